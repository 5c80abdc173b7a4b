import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** How strongly ffmpeg is isolated: `auto` uses what the machine allows, `off` only limits resources. */
export type SandboxMode = 'auto' | 'require' | 'off';

export interface SandboxPlan {
  mode: SandboxMode;
  /** The only file it may read, if any. */
  file?: string | undefined;
  /** Longest processor time in seconds. */
  cpuSeconds?: number | undefined;
}

const run = promisify(execFile);
const ROOT = [
  ['--ro-bind', '/usr', '/usr'],
  ['--symlink', 'usr/bin', '/bin'],
  ['--symlink', 'usr/lib', '/lib'],
  ['--symlink', 'usr/lib64', '/lib64'],
  ['--ro-bind-try', '/etc/alternatives', '/etc/alternatives'],
  ['--ro-bind-try', '/etc/ld.so.cache', '/etc/ld.so.cache'],
  ['--tmpfs', '/tmp'],
  ['--proc', '/proc'],
  ['--dev', '/dev'],
].flat();
const LOCK = ['--unshare-all', '--die-with-parent', '--clearenv', '--setenv', 'PATH', '/usr/bin', '--cap-drop', 'ALL'];

let isAvailable: Promise<boolean> | undefined;

/** Whether bubblewrap works here: it needs user namespaces, which some container platforms forbid. */
function sandboxAvailable(): Promise<boolean> {
  isAvailable ??= run('bwrap', [...LOCK, ...ROOT, '/usr/bin/true'], { timeout: 5000 }).then(
    () => true,
    () => false,
  );
  return isAvailable;
}

/**
 * The command line that runs `program` with bounded memory, no files to write and, where bubblewrap works, in its own
 * namespaces: no network, no processes, no file but the one named.
 */
export async function sandboxed(
  plan: SandboxPlan,
  program: string,
  args: readonly string[],
): Promise<[string, string[]]> {
  const limits = ['--as=4294967296', '--fsize=0', '--core=0', '--nofile=64'];
  if (plan.cpuSeconds !== undefined) limits.push(`--cpu=${plan.cpuSeconds}`);
  const limited = ['prlimit', ...limits, program, ...args];
  const isLocked = plan.mode !== 'off' && (plan.mode === 'require' || (await sandboxAvailable()));
  if (!isLocked) return [limited[0] ?? '', limited.slice(1)];
  const file = plan.file === undefined ? [] : ['--ro-bind', plan.file, plan.file];
  return ['bwrap', [...LOCK, ...ROOT, ...file, ...limited]];
}
