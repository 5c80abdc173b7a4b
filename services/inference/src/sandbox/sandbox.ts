import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stream } from 'node:stream';
import { fail } from '@vision/contracts/errors';
import { bubblewrap, landlock } from './isolation.ts';
import type { Isolation, IsolationName } from './isolation.ts';
import { lowerSession } from './lower-priority.ts';
import { buildSeccompFilter } from './seccomp-filter.ts';
import type { FilterArchitecture } from './seccomp-filter.ts';

/** `require` refuses to run without isolation, `auto` runs with limits only and says so, `off` does not try any. */
export type SandboxMode = 'auto' | 'require' | 'off';

/** One program that works on bytes of strangers. */
export interface SandboxedProgram {
  program: string;
  args: readonly string[];
  /** Files and folders outside /usr that it may read. */
  readable?: readonly string[] | undefined;
  /** Most processor time in seconds, told by SIGXCPU; without it the caller has to stop the program. */
  cpuSeconds?: number | undefined;
  /** Most memory it may write to, in bytes. */
  memoryBytes?: number | undefined;
  /** How far it leaves the processor to others, 1 to 19. */
  niceness?: number | undefined;
}

/** What a program is given: a pipe to the service, nothing, a channel, or an open stream of the service. */
type Descriptor = 'pipe' | 'ignore' | 'ipc' | Stream;

export interface Sandbox {
  /** What stands between a decoder and the service; `none` when only resources are limited. */
  readonly isolation: IsolationName | 'none';
  /** False in mode `require` without isolation. */
  readonly canRun: boolean;
  /**
   * Starts a program in the sandbox, in a process group of its own, with an empty environment and the given
   * descriptors. The process exists when this returns. Over a channel (`ipc`), which is descriptor 4, the program gets
   * messages and sockets of Node.js and can send nothing.
   * @throws SandboxUnavailableError in mode `require` without isolation, and after `close`; AppError of kind
   * unavailable, `decoder_not_started`, when the system cannot start a process now.
   */
  spawn(program: SandboxedProgram, stdio: readonly Descriptor[]): ChildProcess;
  /** Lets go of the filter; programs that run go on, and no more are started. */
  close(): void;
}

/** Decoding is refused: isolation is required and this machine offers none, or the service has stopped. */
class SandboxUnavailableError extends Error {
  override readonly name = 'SandboxUnavailableError';
}

/** Receives the reason why the system did not start a program. */
type NotStarted = (program: string, error: unknown) => void;

const MEMORY_BYTES = 2 * 1024 ** 3;
/**
 * Addresses, of which programs reserve more than they write to. Memory that was written and then made read-only no
 * longer counts as written, so a decoder that was taken over is bounded by this.
 */
const ADDRESSES_PER_MEMORY = 3;
/** Bytes of written files and of core dumps; descriptors; threads of this user altogether. */
const LIMITS = ['--fsize=0', '--core=0', '--nofile=64', '--nproc=2048'];
/** Where the memory of the container or machine runs out, the kernel ends a decoder before the service. */
const LIMITER = ['choom', '--adjust', '1000', '--', 'prlimit'];
/** In the sandbox, which empties the environment. An allocator for each thread reserves 64 MiB of addresses. */
const ALLOCATOR = ['env', 'MALLOC_ARENA_MAX=1'];
/** Number of the descriptor that a channel has. */
const CHANNEL = 4;
const CHANNEL_OF_NODE = [`NODE_CHANNEL_FD=${CHANNEL}`, 'NODE_CHANNEL_SERIALIZATION_MODE=json'];
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' };

/**
 * Finds the first isolation that works on this machine by running a program in it. Rejects when the system cannot start
 * a process: that says nothing about isolation.
 */
export async function createSandbox(
  mode: SandboxMode,
  isolations: readonly Isolation[] = [bubblewrap, landlock],
  onNotStarted: NotStarted = () => undefined,
): Promise<Sandbox> {
  const filters = { plain: await keepFilter(), withChannel: await keepFilter(CHANNEL) };
  const isolation = mode === 'off' ? undefined : await findIsolation(isolations, filters.plain);
  const canRun = isolation !== undefined || mode !== 'require';
  let isClosed = false;
  return {
    isolation: isolation?.name ?? 'none',
    canRun,
    spawn: (wanted, stdio) => {
      if (!canRun) throw new SandboxUnavailableError('no sandbox for decoders on this machine');
      if (isClosed) throw new SandboxUnavailableError('the sandbox is closed');
      const filter = stdio.includes('ipc') ? filters.withChannel : filters.plain;
      const child = startNow(() => spawnIsolated(isolation, filter, { wanted, stdio }), wanted, onNotStarted);
      if (child.pid !== undefined && wanted.niceness !== undefined) lowerSession(child.pid, wanted.niceness);
      return child;
    },
    close: () => {
      isClosed = true;
      Object.values(filters).forEach((filter) => filter.close());
    },
  };
}

/**
 * The system's refusal to start a process (too many processes or open files, no memory) is thrown by `spawn` or emitted
 * by a child that has no process and perhaps no streams. Callers get one exception for all of these.
 */
function startNow(start: () => ChildProcess, { program }: SandboxedProgram, onNotStarted: NotStarted): ChildProcess {
  let child: ChildProcess;
  try {
    child = start();
  } catch (error) {
    if (error instanceof SandboxUnavailableError) throw error;
    onNotStarted(program, error);
    throw fail.upstreamDown('decoder_not_started', error);
  }
  const { pid } = child;
  // An `error` event without a listener ends this process.
  child.on('error', (error) => {
    if (pid === undefined) onNotStarted(program, error);
  });
  if (pid === undefined) throw fail.upstreamDown('decoder_not_started');
  return child;
}

/** The seccomp filter as a file without a name, so nothing is left of it however this process ends. */
interface Filter {
  /** A new descriptor: bubblewrap reads one to its end, and a shared one would share the position. */
  open: () => number;
  close: () => void;
}

async function keepFilter(channel?: number): Promise<Filter> {
  const folder = await mkdtemp(join(tmpdir(), 'vision-sandbox-'));
  let kept: number | undefined;
  try {
    const path = join(folder, 'seccomp.bpf');
    await writeFile(path, buildSeccompFilter(architectureOf(process.arch), channel), { mode: 0o400 });
    kept = openSync(path, 'r');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return {
    open: () => {
      // The number of a closed descriptor may be that of another file by now.
      if (kept === undefined) throw new SandboxUnavailableError('the sandbox is closed');
      return openSync(`/proc/self/fd/${kept}`, 'r');
    },
    close: () => {
      if (kept !== undefined) closeSync(kept);
      kept = undefined;
    },
  };
}

async function findIsolation(isolations: readonly Isolation[], filter: Filter): Promise<Isolation | undefined> {
  for (const isolation of isolations) {
    const works = await new Promise<boolean>((resolve, reject) => {
      const child = spawnIsolated(isolation, filter, { wanted: { program: '/usr/bin/true', args: [] }, stdio: [] });
      const limit = setTimeout(() => child.kill('SIGKILL'), 5_000);
      child.once('error', reject);
      child.once('close', (code) => {
        clearTimeout(limit);
        resolve(code === 0);
      });
    });
    if (works) return isolation;
  }
  return undefined;
}

function spawnIsolated(
  isolation: Isolation | undefined,
  filter: Filter,
  { wanted, stdio }: { wanted: SandboxedProgram; stdio: readonly Descriptor[] },
): ChildProcess {
  const { program, args, readable = [], cpuSeconds, memoryBytes = MEMORY_BYTES, niceness = 0 } = wanted;
  const own: Descriptor[] = stdio.length >= 3 ? [...stdio] : ['ignore', 'ignore', 'ignore'];
  const memory = [`--data=${memoryBytes}`, `--as=${memoryBytes * ADDRESSES_PER_MEMORY}`];
  const limits = [...LIMITS, ...memory, ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}:${cpuSeconds + 1}`])];
  const options = { detached: true, env: ENVIRONMENT };
  const limited = [`--adjustment=${niceness}`, ...LIMITER, ...limits];
  const channel = own.includes('ipc') ? CHANNEL_OF_NODE : [];
  const command = [...ALLOCATOR, ...channel, program, ...args];
  if (!isolation) return spawn('nice', [...limited, ...command], { ...options, stdio: own });
  const descriptor = filter.open();
  try {
    const before = isolation.command({ filter: own.length, readable });
    return spawn('nice', [...limited, ...before, ...command], { ...options, stdio: [...own, descriptor] });
  } finally {
    closeSync(descriptor);
  }
}

function architectureOf(name: string): FilterArchitecture {
  if (name === 'x64' || name === 'arm64') return name;
  throw new Error(`decoders run on x64 and arm64 only, this is ${name}`);
}
