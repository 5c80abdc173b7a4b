import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { MAX_FACT_BYTES } from '../inputs/messages.ts';
import type { Fact, Order } from '../inputs/messages.ts';
import { createFrameReader } from '../sandbox/frames.ts';
import { killGroup } from '../sandbox/kill-group.ts';
import { NODE_IN_SANDBOX, nodeModulesOf } from '../sandbox/node-program.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { readFact } from './facts.ts';
import { createHandOver } from './hand-over.ts';

/** A process that handles the protocol of one live source. */
export interface ReaderProcess {
  readonly processGroup: number | undefined;
  /** The stream that ffmpeg reads. */
  readonly video: Socket;
  tell: (order: Order) => void;
  /** Transfers a connection to it and closes the copy of this process. */
  hand: (id: number, socket: Socket) => void;
  kill: () => void;
  /** Settles when the process has ended and all its facts are processed. */
  readonly gone: Promise<void>;
}

/** V8 reserves 512 MiB for code, which count; the rest holds the heap, frames and HLS segments that are read ahead. */
const MEMORY_BYTES = 768 * 1024 ** 2;
/** An ordinary camera needs months for it; a compromised reader uses it up in hours and is replaced. */
const CPU_SECONDS = 12 * 3600;
/** Processes without it get three times as much of a processor. */
const NICENESS = 5;

// Sources run in development and in tests, compiled files in production.
const isSource = import.meta.url.endsWith('.ts');
const script = fileURLToPath(new URL(`../inputs/reader-process.${isSource ? 'ts' : 'js'}`, import.meta.url));
const ARGUMENTS = [
  ...NODE_IN_SANDBOX,
  '--no-warnings',
  // Each stream has such a process: no threads for V8, and memory is reused before more is allocated.
  '--v8-pool-size=0',
  '--max-old-space-size=64',
  '--max-semi-space-size=1',
  ...(isSource ? ['--conditions=@vision/source'] : []),
  script,
];

const sources = join(dirname(script), '..');
const packages = nodeModulesOf('hls-parser', import.meta.url);
const ours = ['contracts', 'shared', 'streams'].map((name) => realpathSync(join(packages, '@vision', name)));
/** The program, our code and its packages; Node.js reads their `package.json` to determine the type of a module. */
const READABLE = [
  dirname(process.execPath),
  sources,
  join(sources, '../package.json'),
  ...['@vision', 'hls-parser', 'ipaddr.js'].map((name) => join(packages, name)),
  ...ours.flatMap((folder) => [isSource ? 'src' : 'dist', 'package.json'].map((name) => join(folder, name))),
];

/**
 * Starts a reader in the sandbox. Its three descriptors: facts and frames go out, orders and sockets come in.
 * @throws any error of `Sandbox.spawn`
 */
export function startReaderProcess(sandbox: Sandbox, onFact: (fact: Fact) => void): ReaderProcess {
  const child = sandbox.spawn(
    {
      program: process.execPath,
      args: ARGUMENTS,
      readable: READABLE,
      memoryBytes: MEMORY_BYTES,
      cpuSeconds: CPU_SECONDS,
      niceness: NICENESS,
    },
    ['ignore', 'pipe', 'ignore', 'pipe', 'ipc'],
  );
  const facts = child.stdout as Readable;
  const video = child.stdio[3] as Socket;
  const handOver = createHandOver(child);
  const kill = () => killGroup(child);
  const read = createFrameReader(MAX_FACT_BYTES, (frame) => {
    const fact = readFact(frame);
    if (fact.kind === 'taken') handOver.taken(fact.id);
    onFact(fact);
  });
  facts.on('data', (chunk: Buffer) => {
    try {
      read(chunk);
    } catch {
      // Its output violates the protocol, so the reader is compromised.
      facts.removeAllListeners('data').resume();
      kill();
    }
  });
  for (const stream of [facts, video]) stream.on('error', () => undefined);
  return {
    processGroup: child.pid,
    video,
    tell: handOver.tell,
    hand: handOver.hand,
    kill,
    gone: ended(child, facts).finally(() => {
      handOver.end();
      video.destroy();
    }),
  };
}

async function ended(child: ChildProcess, facts: Readable): Promise<void> {
  const [heard, gone] = [once(facts, 'close'), once(child, 'exit')];
  await Promise.allSettled([heard, gone]);
}
