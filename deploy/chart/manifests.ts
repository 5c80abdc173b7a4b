import { parseAllDocuments } from 'yaml';

export interface Container {
  name: string;
  command?: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } }[];
  image: string;
  securityContext?: Record<string, unknown>;
  volumeMounts?: { name: string; mountPath: string }[];
  resources?: { limits?: Record<string, string> };
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  volumes?: Record<string, unknown>[];
  securityContext?: Record<string, unknown>;
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  terminationGracePeriodSeconds?: number;
}

/** The fields of a manifest that the checks read. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string>; labels?: Record<string, string> };
  spec?: Record<string, unknown>;
}

export const nameOf = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`;

export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** The pods that a manifest leads to. */
export function podOf({ kind, spec }: Manifest): PodSpec | undefined {
  if (kind === 'Pod') return spec as unknown as PodSpec;
  const { template } = (spec ?? {}) as { template?: { spec: PodSpec } };
  return template?.spec;
}

/** The keys of Secrets that pods read, as name/key, with one place that reads each. */
export function keysOfSecrets(manifests: Manifest[]): Map<string, string> {
  const wanted = new Map<string, string>();
  for (const manifest of manifests) {
    const pod = podOf(manifest);
    for (const { env = [] } of pod?.containers ?? [])
      for (const { name, valueFrom } of env)
        if (valueFrom?.secretKeyRef) wanted.set(`${valueFrom.secretKeyRef.name}/${valueFrom.secretKeyRef.key}`, name);
    for (const { secret } of (pod?.volumes ?? []) as { secret?: { secretName: string; items: { key: string }[] } }[])
      for (const { key } of secret?.items ?? []) wanted.set(`${secret?.secretName ?? ''}/${key}`, nameOf(manifest));
  }
  return wanted;
}
