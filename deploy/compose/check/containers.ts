import { resolve } from 'node:path';
import { output } from '../../images/engine.ts';
import { root } from '../../local/settings.ts';
import type { Container } from '../compose-file.ts';
import { runProgram } from '../../local/program.ts';
import type { Outcome } from '../../local/program.ts';

/** Flags of podman for the settings of a container in the compose file, except its network. */
export function runFlags(container: Container, volumePrefix: string, seccompFile: string): string[] {
  const { environment, tmpfs, volumes, cap_drop: dropped, security_opt: security } = container;
  return [
    '--runtime=runc',
    '--pull=never',
    '--log-driver=k8s-file',
    // Timers of systemd would ask; the check asks by itself, the same question.
    '--no-healthcheck',
    // As strict as Docker's: podman's own lets containers make namespaces.
    `--security-opt=seccomp=${seccompFile}`,
    // The engine's own are more than a machine may give away.
    '--ulimit=nofile=1024:1024',
    '--ulimit=nproc=4096:4096',
    ...(container.init ? ['--init'] : []),
    // Podman would add writable places of its own.
    ...(container.read_only ? ['--read-only', '--read-only-tmpfs=false'] : []),
    ...tmpfs.map((place) => `--tmpfs=${place}`),
    ...volumes.map((mount) => `--volume=${mountFlag(mount, volumePrefix)}`),
    ...dropped.map((name) => `--cap-drop=${name}`),
    ...security.map(securityFlag),
    ...(container.mem_limit ? [`--memory=${container.mem_limit}`] : []),
    ...(container.pids_limit ? [`--pids-limit=${container.pids_limit}`] : []),
    ...Object.entries(container.sysctls).map(([name, value]) => `--sysctl=${name}=${value}`),
    ...(container.entrypoint ? [`--entrypoint=${JSON.stringify(container.entrypoint)}`] : []),
    ...Object.entries(environment).map(([name, value]) => `--env=${name}=${value}`),
  ];
}

function mountFlag({ source, target, readOnly }: Container['volumes'][number], prefix: string): string {
  const from = source.startsWith('.') ? resolve(root, source) : `${prefix}-${source}`;
  return `${from}:${target}${readOnly ? ':ro' : ''}`;
}

function securityFlag(option: string): string {
  if (option !== 'no-new-privileges:true') throw new Error(`The compose file gives up or asks for more: ${option}`);
  return '--security-opt=no-new-privileges';
}

/** Output and exit code of a command inside of a running container. */
export async function inside(name: string, command: string[]): Promise<Outcome> {
  return runProgram(['podman', 'exec', name, ...command], { timeoutMs: 60_000 });
}

/** The question that the image's HEALTHCHECK asks. @throws Error when the image has none. */
export function healthTest(image: string): string[] {
  const said = output(['podman', 'image', 'inspect', '--format', '{{json .HealthCheck}}', image]);
  const { Test: test = [] } = (JSON.parse(said) ?? {}) as { Test?: string[] };
  if (test[0] !== 'CMD') throw new Error(`${image} has no HEALTHCHECK`);
  return test.slice(1);
}

/**
 * What the compose file and the image promise about a running container, looked at from its inside. Returns what is not
 * so.
 */
export async function brokenPromises(name: string, container: Container): Promise<string[]> {
  const script =
    'id -u; grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/1/status; touch /app/x /etc/x 2>/dev/null && echo writable;' +
    'cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null;' +
    'cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null; touch /tmp/x && echo tmp';
  const { stdout } = await inside(name, ['sh', '-c', script]);
  const promises: Record<string, boolean> = {
    'runs as uid 10001': /^10001$/m.test(stdout),
    'has no capability': /CapEff:\s*0+$/m.test(stdout),
    'may gain no privileges': /NoNewPrivs:\s*1$/m.test(stdout),
    'has a seccomp filter': /Seccomp:\s*2$/m.test(stdout),
    'has a root that cannot be written': !/^writable$/m.test(stdout),
    'can write to /tmp': /^tmp$/m.test(stdout),
    'has its memory limit': container.mem_limit === undefined || stdout.includes(String(bytesOf(container.mem_limit))),
    'has its limit of processes': new RegExp(`^${container.pids_limit}$`, 'm').test(stdout),
  };
  return Object.entries(promises).flatMap(([promise, kept]) => (kept ? [] : [promise]));
}

function bytesOf(limit: string): number {
  return Number(limit.slice(0, -1)) * { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }[limit.at(-1) as 'k' | 'm' | 'g'];
}
