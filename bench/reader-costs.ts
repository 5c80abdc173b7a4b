import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createBudget } from '@vision/streams/budget';
import { startDecoder } from '../services/inference/src/decoding/decoder.ts';
import type { LiveFormat } from '../services/inference/src/inputs/messages.ts';
import { openInput } from '../services/inference/src/inputs/open-input.ts';
import { openLiveInput } from '../services/inference/src/readers/open-live-input.ts';
import type { SourceAddresses } from '../services/inference/src/readers/source-addresses.ts';
import { processorTimeByGroup, threadsOf } from '../services/inference/src/sandbox/processor-time.ts';
import type { Sandbox } from '../services/inference/src/sandbox/sandbox.ts';
import { atLeast, atMost, median } from './figures.ts';
import type { Figure } from './figures.ts';

const ROUNDS = 5;
const OPEN_MS = 10_000;
const KILL_GRACE_MS = 3_000;
const MiB = 1024 ** 2;

export interface ReaderWorld {
  sandbox: Sandbox;
  addresses: SourceAddresses;
  /** Serves a clip as fast as it is taken. */
  url: string;
  seconds: number;
  /** Arguments of ffmpeg for a source of this format. */
  decode: (format: LiveFormat) => string[];
  folder: string;
  /** Processor time of detection, milliseconds for a second of video. */
  detectMs: number;
  childrenMs: () => Promise<number>;
}

/** One reading of the clip. */
interface Reading {
  /** Processor time of this process and of all that it started, milliseconds for a second of video. */
  cpuMs: number;
  /** Memory of ffmpeg and, where there is one, of the reader: shared pages by their share. */
  bytes: number;
  reader?: { startMs: number; privateBytes: number };
}

/** An open source, however it is read. */
interface Opened {
  format: LiveFormat;
  /** Becomes standard input of ffmpeg. */
  video: Socket;
  play: () => void;
  close: () => Promise<void> | void;
  processGroup?: number | undefined;
}

/**
 * What a process for each reader costs: the same clip read by the same protocol code in the process of the worker, as
 * before there were readers, and in a reader, in turn.
 */
export async function readerFigures(world: ReaderWorld): Promise<Figure[]> {
  const here: Reading[] = [];
  const apart: Reading[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    here.push(await read(world, () => openHere(world, `${world.folder}/video-${round}`)));
    apart.push(await read(world, () => openApart(world)));
  }
  const middle = (readings: Reading[], pick: (reading: Reading) => number) => median(readings.map(pick));
  const streams = (readings: Reading[]) => 1000 / (middle(readings, ({ cpuMs }) => cpuMs) + world.detectMs);
  const memory = (readings: Reading[]) => middle(readings, ({ bytes }) => bytes);
  return [
    { name: 'streams a core, without a reader', value: streams(here), unit: 'streams' },
    { name: 'streams a core over those', value: streams(apart) / streams(here), unit: 'ratio', target: atLeast(0.95) },
    { name: 'memory of a stream without a reader', value: memory(here) / MiB, unit: 'MiB' },
    { name: 'memory of a stream over that', value: memory(apart) / memory(here), unit: 'ratio', target: atMost(1.5) },
    {
      name: 'private memory of a reader',
      value: middle(apart, ({ reader }) => reader?.privateBytes ?? NaN) / MiB,
      unit: 'MiB',
      target: atMost(40),
    },
    {
      name: 'processor time to start a reader',
      value: middle(apart, ({ reader }) => reader?.startMs ?? NaN),
      unit: 'ms',
      target: atMost(150),
    },
  ];
}

async function read(world: ReaderWorld, open: () => Promise<Opened>): Promise<Reading> {
  const before = { own: process.cpuUsage(), childrenMs: await world.childrenMs() };
  const input = await open();
  const { processGroup: group } = input;
  const reader = group && {
    startMs: processorTimeByGroup().get(group) ?? NaN,
    privateBytes: memoryOf([group], /^Private_(?:Clean|Dirty):\s+(\d+)/gm),
  };
  const { sandbox, seconds, decode } = world;
  const decoder = startDecoder(decode(input.format), {
    sandbox,
    input: input.video,
    isSizeFixed: false,
    killGraceMs: KILL_GRACE_MS,
  });
  input.video.destroy();
  input.play();
  let bytes = 0;
  for await (const { ptsMs } of decoder.frames()) {
    if (bytes > 0 || ptsMs < (seconds * 1000) / 2) continue;
    const groups = [group, decoder.processGroup].filter((one) => one !== undefined);
    bytes = memoryOf(groups, /^Pss:\s+(\d+)/gm);
  }
  const reason = await decoder.outcome;
  if (reason !== undefined) throw new Error(`decoding failed: ${reason}`);
  await input.close();
  const own = process.cpuUsage(before.own);
  const cpuMs = ((own.user + own.system) / 1000 + (await world.childrenMs()) - before.childrenMs) / seconds;
  return { cpuMs, bytes, ...(reader ? { reader } : {}) };
}

async function openApart({ addresses, sandbox, url }: ReaderWorld): Promise<Opened> {
  const { signal } = new AbortController();
  const deps = { addresses, sandbox, openTimeoutMs: OPEN_MS, leaveMs: OPEN_MS };
  return openLiveInput(deps, { url, usage: {} }, { isFirst: true, signal });
}

/** The reader's code in this process, which writes into a socket that ffmpeg reads. */
async function openHere({ addresses, url }: ReaderWorld, path: string): Promise<Opened> {
  const leaving = new AbortController();
  const { signal } = leaving;
  const input = await openInput({
    url: addresses.parse(url),
    connect: async ({ host, port }) => {
      const socket = connect(port, host);
      await once(socket, 'connect');
      return socket;
    },
    openTimeoutMs: OPEN_MS,
    budget: createBudget({ signal }),
    signal,
  });
  const server = createServer().listen(path);
  await once(server, 'listening');
  const video = connect(path);
  const [writer] = (await once(server, 'connection')) as [Socket];
  writer.on('error', () => undefined);
  return {
    format: input.format,
    video,
    play: () => input.feed(writer),
    close: () => {
      input.close();
      leaving.abort();
      server.close();
    },
  };
}

/** Sum of the matching lines over all processes of the groups, bytes. */
function memoryOf(groups: number[], line: RegExp): number {
  const pids = new Set([...threadsOf(groups)].map(({ pid }) => pid));
  const rolled = [...pids].map((pid) => readFileSync(join('/proc', String(pid), 'smaps_rollup'), 'utf8'));
  const kib = rolled.flatMap((text) => [...text.matchAll(line)].map(([, value]) => Number(value)));
  return kib.reduce((sum, value) => sum + value, 0) * 1024;
}
