import { join } from 'node:path';
import { root } from '../local/settings.ts';

export const chartDir = join(root, 'charts/vision');
export const goldenDir = join(chartDir, 'golden');

/** The oldest version that the chart takes, one in between, and the newest that has schemas. */
export const kubernetesVersions = ['1.29.0', '1.33.0', '1.37.0'] as const;

/** The sets of values that are rendered and kept, by name: the files of each, later ones on top. */
export const examples: Record<string, string[]> = {
  managed: ['managed'],
  operators: ['operators'],
  triton: ['managed', 'triton'],
  'cert-manager': ['operators', 'cert-manager'],
  'one-node': ['one-node'],
};

/** Kinds beyond Kubernetes that the examples use; a cluster would tell. */
const kinds = [
  'gateway.networking.k8s.io/v1/HTTPRoute',
  'monitoring.coreos.com/v1/PodMonitor',
  'monitoring.coreos.com/v1/PrometheusRule',
  'keda.sh/v1alpha1/ScaledObject',
];

/** Arguments that render an example as Helm would in a cluster of this version. */
export function renderArguments(files: string[], kubernetes: string): string[] {
  return [
    'template',
    'vision',
    chartDir,
    '--namespace',
    'vision',
    '--kube-version',
    kubernetes,
    ...kinds.flatMap((kind) => ['--api-versions', kind]),
    ...files.flatMap((file) => ['--values', join(chartDir, 'examples', `${file}.yaml`)]),
  ];
}

/** What every render makes anew is put out of sight: generated secrets, and the checksum of them. */
export function withoutChance(rendered: string): string {
  const secret = /(kind: Secret\n[\s\S]*?\ndata:\n)((?: {2}\S.*\n)+)/g;
  return rendered
    .replace(secret, (_all, head: string, data: string) => head + data.replaceAll(/: .*/g, ': Z2VuZXJhdGVk'))
    .replaceAll(/(checksum\/secrets: ).*/g, '$1generated');
}
