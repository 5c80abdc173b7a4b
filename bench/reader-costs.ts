import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@vision/shared/testing/ports';
import { until } from '@vision/shared/testing/until';
import { createBudget } from '@vision/streams/budget';
import { startDecoder } from '../services/inference/src/decoding/decoder.ts';
import type { Decoder } from '../services/inference/src/decoding/decoder.ts';
import type { LiveFormat } from '../services/inference/src/inputs/messages.ts';
import { openInput } from '../services/inference/src/inputs/open-input.ts';
import type * as openLive from '../services/inference/src/readers/open-live-input.ts';
import type { SourceAddresses } from '../services/inference/src/readers/source-addresses.ts';
import { processorTimeByGroup, threadsOf } from '../services/inference/src/sandbox/processor-time.ts';
import type { Sandbox } from '../services/inference/src/sandbox/sandbox.ts';
import { atLeast, atMost, median } from './figures.ts';
import type { Figure } from './figures.ts';

const root = join(import.meta.dirname, '..');
const ROUNDS = 3;
/** At once, as in a worker: readers share the pages of Node.js. */
const STREAMS = 4;
const SECONDS = 15;
const OPEN_MS = 10_000;
const KILL_GRACE_MS = 3_000;
const MiB = 1024 ** 2;

export interface ReaderWorld {
  sandbox: Sandbox;
  addresses: SourceAddresses;
  /** A video that cameras send again and again. */
  clip: string;
  /** Arguments of ffmpeg for a source of this format. */
  decode: (format: LiveFormat) => string[];
  folder: string;
  /** Processor time of detection, milliseconds for a second of video. */
  detectMs: number;
}

/** Some seconds of several streams, for each of them. */
interface Reading {
  /** Processor time of this process and of all that it started, milliseconds for a second of video. */
  cpuMs: number;
  /** Memory of ffmpeg and, where there is one, of the reader: shared pages by their share. */
  bytes: number;
  /** Private memory of a reader before it plays, and its processor time until then. */
  privateBytes: number;
  startMs: number;
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

type Open = (url: string) => Promise<Opened>;

type OpenLive = typeof openLive;

/** From compiled files, as in an image: reading sources takes a reader twice the memory and time to start. */
async function compiledReaders(): Promise<OpenLive> {
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-b', join(root, 'services/inference')]);
  return (await import(join(root, 'services/inference/dist/readers/open-live-input.js'))) as OpenLive;
}

/**
 * What a process for each reader costs: the same clip read by the same protocol code in the process of the worker, as
 * before there were readers, and in a reader, in turn.
 */
export async function readerFigures(world: ReaderWorld): Promise<Figure[]> {
  const { openLiveInput } = await compiledReaders();
  const here: Reading[] = [];
  const apart: Reading[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    here.push(await watch(world, (url) => openHere(world, url)));
    apart.push(await watch(world, (url) => openApart(world, url, openLiveInput)));
  }
  const middle = (readings: Reading[], pick: (reading: Reading) => number) => median(readings.map(pick));
  const streams = (readings: Reading[]) => 1000 / (middle(readings, ({ cpuMs }) => cpuMs) + world.detectMs);
  const memory = (readings: Reading[]) => middle(readings, ({ bytes }) => bytes);
  const privateBytes = middle(apart, (reading) => reading.privateBytes);
  const startMs = middle(apart, (reading) => reading.startMs);
  return [
    { name: 'streams a core, without a reader', value: streams(here), unit: 'streams' },
    { name: 'streams a core over those', value: streams(apart) / streams(here), unit: 'ratio', target: atLeast(0.95) },
    { name: 'memory of a stream without a reader', value: memory(here) / MiB, unit: 'MiB' },
    {
      name: 'memory of a stream over that',
      value: memory(apart) / memory(here),
      unit: 'ratio',
      target: atMost(1.5),
      floor: atMost(2.1),
    },
    { name: 'private memory of a reader', value: privateBytes / MiB, unit: 'MiB', target: atMost(40) },
    { name: 'processor time to start a reader', value: startMs, unit: 'ms', target: atMost(150) },
  ];
}

async function watch(world: ReaderWorld, open: Open): Promise<Reading> {
  const cameras = await Promise.all(Array.from({ length: STREAMS }, () => startCamera(world.clip)));
  const inputs: Opened[] = [];
  const decoders: Decoder[] = [];
  try {
    const before = process.cpuUsage();
    for (const { url } of cameras) inputs.push(await open(url));
    const readers = inputs.flatMap(({ processGroup }) => processGroup ?? []);
    const startMs = spentBy(readers) / STREAMS;
    const privateBytes = memoryOf(readers, /^Private_(?:Clean|Dirty):\s+(\d+)/gm) / STREAMS;
    for (const input of inputs) decoders.push(startDecoding(world, input));
    const groups = [...readers, ...decoders.flatMap(({ processGroup }) => processGroup ?? [])];
    let bytes = 0;
    const measure = () => (bytes = memoryOf(groups, /^Pss:\s+(\d+)/gm) / STREAMS);
    await Promise.all(decoders.map((decoder, index) => follow(decoder, index === 0 ? measure : undefined)));
    const { user, system } = process.cpuUsage(before);
    // Before the processes end: what they leave behind is not told of a sandbox that is stopped.
    const spentMs = (user + system) / 1000 + spentBy(groups);
    return { cpuMs: spentMs / STREAMS / SECONDS, bytes, privateBytes, startMs };
  } finally {
    await Promise.all(decoders.map(async (decoder) => decoder.stop()));
    await Promise.all(inputs.map(async ({ close }) => close()));
    for (const { close } of cameras) close();
  }
}

/** Processor time of all groups so far, milliseconds. */
function spentBy(groups: readonly number[]): number {
  const times = processorTimeByGroup();
  return groups.reduce((sum, group) => sum + (times.get(group) ?? NaN), 0);
}

function startDecoding({ sandbox, decode }: ReaderWorld, input: Opened): Decoder {
  const decoder = startDecoder(decode(input.format), {
    sandbox,
    input: input.video,
    isSizeFixed: false,
    killGraceMs: KILL_GRACE_MS,
  });
  input.video.destroy();
  input.play();
  return decoder;
}

/** Reads frames for some seconds, and calls `measure` when most of them have passed. */
async function follow(decoder: Decoder, measure: (() => void) | undefined): Promise<void> {
  let isMeasured = false;
  for await (const { ptsMs } of decoder.frames()) {
    if (ptsMs >= SECONDS * 1000) return;
    if (isMeasured || ptsMs < 0.8 * SECONDS * 1000) continue;
    measure?.();
    isMeasured = true;
  }
  throw new Error(`no frames any more: ${await decoder.outcome}`);
}

/** ffmpeg sends the clip to one client at the pace of a camera. */
async function startCamera(clip: string): Promise<{ url: string; close: () => void }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/camera`;
  const input = ['-v', 'error', '-nostdin', '-re', '-stream_loop', '-1', '-i', clip];
  const camera = spawn('ffmpeg', [...input, '-c', 'copy', '-f', 'mpegts', '-listen', '1', url], { stdio: 'ignore' });
  await until(() => isListening(port));
  return { url, close: () => camera.kill('SIGKILL') };
}

/** A camera serves its first connection only, so none is made to find out. */
const isListening = (port: number) =>
  new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')} 0+:0000 0A `).test(
    readFileSync('/proc/net/tcp', 'utf8'),
  );

async function openApart(
  { addresses, sandbox }: ReaderWorld,
  url: string,
  openLiveInput: OpenLive['openLiveInput'],
): Promise<Opened> {
  const { signal } = new AbortController();
  const deps = { addresses, sandbox, openTimeoutMs: OPEN_MS, leaveMs: OPEN_MS };
  return openLiveInput(deps, { url, usage: {} }, { isFirst: true, signal });
}

/** The reader's code in this process, which writes into a socket that ffmpeg reads. */
async function openHere({ addresses, folder }: ReaderWorld, url: string): Promise<Opened> {
  const path = join(folder, `video-${randomUUID()}`);
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
