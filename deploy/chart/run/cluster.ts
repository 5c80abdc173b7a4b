import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outputOf, runProgram } from '../../local/program.ts';
import type { Container, Manifest, PodSpec } from '../manifests.ts';

/** The data of Secrets and ConfigMaps by name, as text or as bytes in base64. */
export type Stored = Record<string, Record<string, string | { base64: string }>>;

/** What stands in for a cluster: podman on the network of this machine. */
export interface Cluster {
  /** Folder for volumes and logs. */
  dir: string;
  stored: Stored;
  /** Names of Services, which all lead to this machine: every component has ports of its own. */
  hosts: string[];
  /** Names of all pods that were ever started, for the clean-up. */
  started: Set<string>;
}

/** What the default profile of the engine and of Kubernetes demand of this old podman besides. */
const FLAGS = ['--runtime', 'runc', '--pull', 'never', '--no-healthcheck', '--log-driver', 'k8s-file'];
const LIMITS = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=4096:4096', '--pids-limit', '2048'];

/** Starts the one container of a pod with exactly its security context. `env` wins over the manifest. */
export async function startPod(
  cluster: Cluster,
  name: string,
  pod: PodSpec,
  env: Record<string, string> = {},
): Promise<void> {
  const [container] = pod.containers;
  if (!container) throw new Error(`${name} has no container`);
  await podman('rm', '--force', '--ignore', name);
  cluster.started.add(name);
  await podman(
    'run',
    '--detach',
    '--name',
    name,
    ...FLAGS,
    ...LIMITS,
    ...contextOf(pod, container),
    ...networkOf(cluster),
    ...volumesOf(cluster, name, pod),
    ...memoryOf(container),
    ...environmentOf(cluster, name, container, env),
    container.image,
    ...(container.command ?? []),
  );
}

/** Waits for the end of a pod. Returns its exit code and what it said. */
export async function endOf(name: string): Promise<{ code: number; output: string }> {
  const code = Number(await podman('wait', name));
  const { stdout, stderr } = await runProgram(['podman', 'logs', name]);
  return { code, output: `${stdout}${stderr}`.trim() };
}

/** Its log stays, in the folder of the cluster. */
export async function removePod(cluster: Cluster, name: string): Promise<void> {
  await keepLog(cluster, name);
  const remove = () => podman('rm', '--force', '--ignore', '--time', '1', name);
  // On a busy machine podman may lose a container that ends while it is being stopped; the next try finds it ended.
  await remove().catch(remove);
}

/** Ends a pod as a kubelet does: the pause first, then SIGTERM, and SIGKILL when its grace is over. */
export async function stopPod(cluster: Cluster, name: string, pod: PodSpec, pausedSeconds: number): Promise<number> {
  const grace = (pod.terminationGracePeriodSeconds ?? 30) - pausedSeconds;
  await podman('stop', '--time', String(grace), name);
  const code = Number(await podman('inspect', '--format', '{{.State.ExitCode}}', name));
  await removePod(cluster, name);
  return code;
}

async function keepLog({ dir }: Cluster, name: string): Promise<void> {
  const { status, stdout, stderr } = await runProgram(['podman', 'logs', name]);
  if (status === 0) appendFileSync(join(dir, `${name}.log`), stdout + stderr);
}

/** What a process in the pod has against the restricted profile, as the kernel sees it. */
export async function heldInside(name: string): Promise<string[]> {
  const status = await podman('exec', name, 'cat', '/proc/1/status');
  const asked = 'grep -E "^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status';
  const own = await podman('exec', name, 'sh', '-c', asked);
  const write = await runProgram(['podman', 'exec', name, 'touch', '/app/x']);
  const checks: [boolean, string][] = [
    [/^Uid:\s+10001\s+10001\s+10001\s+10001$/m.test(own) && !/^Uid:\s+0\s/m.test(status), 'runs as somebody else'],
    [/^CapEff:\s+0+$/m.test(own) && /^CapBnd:\s+0+$/m.test(own), 'has capabilities'],
    [/^NoNewPrivs:\s+1$/m.test(own), 'may gain privileges'],
    [/^Seccomp:\s+2$/m.test(own), 'has no seccomp filter'],
    [write.status !== 0 && /read-only/i.test(write.stderr), 'can write to its root'],
  ];
  return checks.filter(([holds]) => !holds).map(([, says]) => `${name} ${says}`);
}

function contextOf({ securityContext: pod = {} }: PodSpec, { securityContext: own = {} }: Container): string[] {
  const flags = [
    '--user',
    `${String(pod['runAsUser'])}:${String(pod['runAsGroup'])}`,
    '--read-only-tmpfs=false',
    '--init',
  ];
  if (own['readOnlyRootFilesystem'] === true) flags.push('--read-only');
  if (own['allowPrivilegeEscalation'] === false) flags.push('--security-opt', 'no-new-privileges');
  const { drop = [] } = (own['capabilities'] ?? {}) as { drop?: string[] };
  return [...flags, ...drop.flatMap((name) => ['--cap-drop', name])];
}

const networkOf = ({ hosts }: Cluster) => [
  '--network',
  'host',
  ...hosts.flatMap((host) => ['--add-host', `${host}:127.0.0.1`]),
];

function memoryOf({ resources }: Container): string[] {
  const limit = resources?.limits?.['memory'];
  return limit ? ['--memory', limit.replace(/i$/, '').toLowerCase()] : [];
}

function volumesOf(cluster: Cluster, name: string, pod: PodSpec): string[] {
  const mounts = pod.containers[0]?.volumeMounts ?? [];
  return mounts.flatMap(({ name: volume, mountPath }) => {
    const folder = join(cluster.dir, name, volume);
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    const source = pod.volumes?.find((one) => one['name'] === volume) ?? {};
    const named =
      (source['configMap'] as { name: string } | undefined)?.name ??
      (source['secret'] as { secretName: string } | undefined)?.secretName;
    for (const [file, content] of Object.entries(cluster.stored[named ?? ''] ?? {})) {
      writeFileSync(join(folder, file), typeof content === 'string' ? content : Buffer.from(content.base64, 'base64'));
    }
    return ['--volume', `${folder}:${mountPath}${named ? ':ro' : ''}`];
  });
}

function environmentOf(cluster: Cluster, name: string, container: Container, over: Record<string, string>): string[] {
  const given = (container.env ?? []).map(({ name: variable, value, valueFrom }): [string, string] => {
    const reference = valueFrom?.secretKeyRef;
    if (!reference) return [variable, value ?? name];
    const secret = cluster.stored[reference.name]?.[reference.key];
    if (typeof secret !== 'string') throw new Error(`${name}: no Secret ${reference.name} with ${reference.key}`);
    return [variable, secret];
  });
  const all = { ...Object.fromEntries(given), ...over };
  return Object.entries(all).flatMap(([variable, value]) => ['--env', `${variable}=${value}`]);
}

/** Megabytes that each pod holds, with its page cache, as its limit counts them. */
export async function memoryOfPods(names: string[]): Promise<string> {
  const stats = await podman('stats', '--no-stream', '--format', '{{.Name}} {{.MemUsage}}', ...names);
  return stats.replaceAll(/^chart-vision-(\w+)-\d (\S+) .*$/gm, '$1 $2').replaceAll('\n', ', ');
}

/** What Secrets and ConfigMaps among the manifests hold. */
export function storedIn(manifests: Manifest[]): Stored {
  const stored: Stored = {};
  for (const manifest of manifests) {
    const { kind, metadata } = manifest;
    if (kind !== 'Secret' && kind !== 'ConfigMap') continue;
    const { data = {}, binaryData = {} } = manifest as {
      data?: Record<string, string>;
      binaryData?: Record<string, string>;
    };
    const decoded = kind === 'Secret' ? mapped(data, (text) => Buffer.from(text, 'base64').toString()) : data;
    stored[metadata.name] = { ...decoded, ...mapped(binaryData, (base64) => ({ base64 })) };
  }
  return stored;
}

const mapped = <T>(record: Record<string, string>, change: (text: string) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** The load goes on meanwhile, in this process. */
const podman = (...args: string[]): Promise<string> => outputOf(['podman', ...args]);
