import { podOf } from './manifests.ts';
import type { Container, Manifest, PodSpec } from './manifests.ts';

/** Volumes that the restricted profile allows. */
const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/**
 * What a manifest's pod has against the restricted profile of Pod Security, and against what this chart promises
 * beyond it: a numeric user, a root that cannot be written to, no token of a service account.
 */
export function againstRestricted(manifest: Manifest): string[] {
  const pod = podOf(manifest);
  if (!pod) return [];
  const { containers, initContainers = [] } = pod;
  return [...ofPod(pod), ...[...initContainers, ...containers].flatMap((container) => ofContainer(container, pod))];
}

function ofPod(pod: PodSpec): string[] {
  const { securityContext: context = {}, volumes = [] } = pod;
  const checks: [boolean, string][] = [
    [pod.hostNetwork !== true && pod.hostPID !== true && pod.hostIPC !== true, 'shares something with its node'],
    [pod.automountServiceAccountToken === false, 'mounts a token of its service account'],
    [context['runAsNonRoot'] === true, 'does not say runAsNonRoot'],
    [typeof context['runAsUser'] === 'number' && context['runAsUser'] > 0, 'has no numeric user beyond 0'],
    [typeOf(context['seccompProfile']) === 'RuntimeDefault', 'has not the seccomp profile RuntimeDefault'],
    [volumes.every((volume) => VOLUMES.some((kind) => kind in volume)), 'has a volume that is not allowed'],
  ];
  return checks.filter(([holds]) => !holds).map(([, says]) => `the pod ${says}`);
}

function ofContainer({ name, securityContext: context = {}, volumeMounts = [] }: Container, pod: PodSpec): string[] {
  const capabilities = (context['capabilities'] ?? {}) as { drop?: string[]; add?: string[] };
  const isEmptyDir = (volume: string) => pod.volumes?.some((one) => one['name'] === volume && 'emptyDir' in one);
  const checks: [boolean, string][] = [
    [context['allowPrivilegeEscalation'] === false, 'allows privilege escalation'],
    [context['privileged'] !== true, 'is privileged'],
    [context['readOnlyRootFilesystem'] === true, 'can write to its root'],
    [JSON.stringify(capabilities) === '{"drop":["ALL"]}', 'keeps capabilities'],
    [context['runAsUser'] === undefined || Number(context['runAsUser']) > 0, 'runs as root'],
    [volumeMounts.some((mount) => mount.mountPath === '/tmp' && isEmptyDir(mount.name)), 'has no /tmp of its own'],
  ];
  return checks.filter(([holds]) => !holds).map(([, says]) => `${name} ${says}`);
}

const typeOf = (profile: unknown) => (profile as { type?: string } | undefined)?.type;
