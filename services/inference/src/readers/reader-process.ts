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

/** A process that speaks the protocol of one live source. */
export interface ReaderProcess {
  readonly processGroup: number | undefined;
  /** What ffmpeg reads. */
  readonly video: Socket;
  tell: (order: Order) => void;
  /** Gives it a connection; this process keeps none of it. */
  hand: (id: number, socket: Socket) => void;
  kill: () => void;
  /** Settles when the process is gone and everything that it said was heard. */
  readonly gone: Promise<void>;
}

/** V8 reserves 512 MiB for code, which count; the rest holds the heap, pictures and what is read ahead of HLS. */
const MEMORY_BYTES = 768 * 1024 ** 2;
/** An honest camera needs months for it; a reader that was taken over takes it in hours and is started anew. */
const CPU_SECONDS = 12 * 3600;
/** Others get three times as much of a processor. */
const NICENESS = 5;

// Sources run in development and in tests, compiled files in production.
const isSource = import.meta.url.endsWith('.ts');
const script = fileURLToPath(new URL(`../inputs/reader-process.${isSource ? 'ts' : 'js'}`, import.meta.url));
const ARGUMENTS = [
  ...NODE_IN_SANDBOX,
  '--no-warnings',
  // There is one such process for each stream: no threads for V8, and memory is used again before more is taken.
  '--v8-pool-size=0',
  '--max-old-space-size=64',
  '--max-semi-space-size=1',
  ...(isSource ? ['--conditions=@vision/source'] : []),
  script,
];

const sources = join(dirname(script), '..');
const packages = nodeModulesOf('hls-parser', import.meta.url);
const ours = ['contracts', 'shared', 'streams'].map((name) => realpathSync(join(packages, '@vision', name)));
/** The program, our code and the packages it needs; Node reads their descriptions to know a module. */
const READABLE = [
  dirname(process.execPath),
  sources,
  join(sources, '../package.json'),
  ...['@vision', 'hls-parser', 'ipaddr.js'].map((name) => join(packages, name)),
  ...ours.flatMap((folder) => [isSource ? 'src' : 'dist', 'package.json'].map((name) => join(folder, name))),
];

/**
 * Starts a reader in the sandbox. It has three descriptors: facts and pictures go out, orders and sockets come in.
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
      // Its output breaks the protocol: it is no longer our reader.
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
