import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { startDecoder } from '../services/inference/src/decoding/decoder.ts';
import type { DecodedFrame } from '../services/inference/src/decoding/decoder.ts';
import { liveArguments } from '../services/inference/src/decoding/ffmpeg-arguments.ts';
import type { ServedScene } from '../services/inference/src/detectors/detectors.ts';
import { createStillFrames } from '../services/inference/src/jobs/still-frames.ts';
import { openLiveInput } from '../services/inference/src/readers/open-live-input.ts';
import { createSourceAddresses } from '../services/inference/src/readers/source-addresses.ts';
import { createSandbox } from '../services/inference/src/sandbox/sandbox.ts';
import { startDetectors } from './embedded-detector.ts';
import { median } from './figures.ts';
import type { Figure } from './figures.ts';
import { readerFigures } from './reader-costs.ts';

export const name = 'streams';

const root = join(import.meta.dirname, '..');
const FPS = 5;
const SECONDS = 20;
const ROUNDS = 3;
const OPEN_MS = 10_000;
/** As cameras send them: 25 frames a second, a key frame every two seconds, no B-frames. */
const CAMERA = ['-r', '25', '-g', '50', '-bf', '0', '-pix_fmt', 'yuv420p', '-preset', 'veryfast'];
const SIZES = { '720p': { side: '1280:720', rate: '2M' }, '1080p': { side: '1920:1080', rate: '4M' } };
const CODECS = { 'H.264': ['libx264'], 'H.265': ['libx265', '-x265-params', 'log-level=none'] };
/** Nothing moves but the noise of the sensor. */
const NOISE = ',noise=alls=4:allf=t';

/**
 * Processor time that one second of a live stream takes, decoding and detection apart, and the streams of a core that
 * follow from it. Processor time, not time of the clock: others on the machine hardly change it.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'vision-streams-'));
  const { detectors, served } = await startDetectors(1);
  const figures: Figure[] = [];
  try {
    for (const [size, { side, rate }] of Object.entries(SIZES)) {
      for (const [codec, encoder] of Object.entries(CODECS)) {
        const path = join(folder, 'moving.mkv');
        await encode(['-stream_loop', '9', '-i', example('street.mp4')], { path, side, rate, encoder });
        const cost = await measure(path, served);
        figures.push(...figuresOf(`${codec} ${size}`, cost));
        if (size === '1080p' && codec === 'H.264') figures.push(...(await costsOfReaders(path, folder, served, cost)));
      }
      const path = join(folder, 'still.mkv');
      const encoder = CODECS['H.264'];
      await encode(['-loop', '1', '-i', example('street.jpg')], { path, side: side + NOISE, rate, encoder });
      figures.push(...stillFiguresOf(`H.264 ${size}, nothing moves`, await measure(path, served, {})));
    }
  } finally {
    await detectors.stop();
    await rm(folder, { recursive: true });
  }
  return { figures };
}

interface Cost {
  /** Milliseconds of processor time for a second of video. */
  decodeMs: number;
  /** The same for one that is looked at, everything in the process of the worker included. */
  detectMs: number;
  repeated: number;
}

const example = (file: string) => join(root, 'examples', file);

async function encode(
  input: string[],
  { path, side, rate, encoder }: { path: string; side: string; rate: string; encoder: string[] },
): Promise<void> {
  const output = ['-t', String(SECONDS), '-vf', `scale=${side}`, '-b:v', rate, ...CAMERA, '-c:v', ...encoder];
  await promisify(execFile)('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...input, ...output, path]);
}

async function measure(path: string, served: ServedScene, still?: object): Promise<Cost> {
  const rounds: Cost[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureOnce(path, served, still));
  const middle = (pick: (cost: Cost) => number) => median(rounds.map(pick));
  return {
    decodeMs: middle(({ decodeMs }) => decodeMs),
    detectMs: middle(({ detectMs }) => detectMs),
    repeated: middle(({ repeated }) => repeated),
  };
}

async function measureOnce(path: string, { detector, scene }: ServedScene, still?: object): Promise<Cost> {
  const stillFrames = createStillFrames(still && { least_change: 6, longest_ms: 5000, ...still });
  const options = { minScore: scene.lower_bound, labels: scene.labels };
  const before = { own: process.cpuUsage(), childrenMs: await childrenMs() };
  let frames = 0;
  let repeated = 0;
  for await (const { ptsMs, image, pixels } of decoded(path, detector.frameFit)) {
    frames += 1;
    if (stillFrames.repeats({ seq: frames, timeMs: ptsMs, image, pixels })) repeated += 1;
    else await detector.detect(pixels, options);
  }
  const own = process.cpuUsage(before.own);
  if (frames < (SECONDS - 1) * FPS) throw new Error(`${frames} frames of ${SECONDS * FPS} were read`);
  const decodeMs = ((await childrenMs()) - before.childrenMs) / SECONDS;
  return { decodeMs, detectMs: (own.user + own.system) / 1000 / SECONDS, repeated: repeated / frames };
}

/** A reader in its sandbox beside the same code without one. */
async function costsOfReaders(
  path: string,
  folder: string,
  { detector }: ServedScene,
  { detectMs }: Cost,
): Promise<Figure[]> {
  const sandbox = await createSandbox('require');
  const addresses = createSourceAddresses(createAddressPolicy(['127.0.0.0/8']), { deadlineMs: OPEN_MS });
  const decode = (format: Parameters<typeof liveArguments>[0]) =>
    liveArguments(format, { fps: FPS, fit: detector.frameFit });
  const figures = await readerFigures({
    sandbox,
    addresses,
    clip: path,
    decode,
    folder,
    detectMs,
  });
  sandbox.close();
  return figures.map((figure) => ({ ...figure, name: `H.264 1080p, ${figure.name}` }));
}

/** The frames that a live job would see, as fast as they can be decoded. */
async function* decoded(path: string, fit: ServedScene['detector']['frameFit']): AsyncGenerator<DecodedFrame> {
  const sandbox = await createSandbox('off');
  const { url, close } = await serveEndlessly(path);
  const addresses = createSourceAddresses(createAddressPolicy(['127.0.0.0/8']), { deadlineMs: OPEN_MS });
  const { signal } = new AbortController();
  const input = await openLiveInput(
    { addresses, sandbox, openTimeoutMs: OPEN_MS, leaveMs: OPEN_MS },
    { url, usage: {} },
    { isFirst: true, signal },
  );
  const args = liveArguments(input.format, { fps: FPS, fit });
  const decoder = startDecoder(args, { sandbox, input: input.video, isSizeFixed: false, killGraceMs: 3000 });
  input.video.destroy();
  input.play();
  yield* decoder.frames();
  const reason = await decoder.outcome;
  await input.close();
  close();
  sandbox.close();
  if (reason !== undefined) throw new Error(`decoding failed: ${reason}`);
}

/** A camera that sends its video as fast as it is taken. */
async function serveEndlessly(path: string): Promise<{ url: string; close: () => void }> {
  const server = createServer((_request, response) => void createReadStream(path).pipe(response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/camera`, close: () => server.close() };
}

/** Processor time of the children of this process that have ended. */
async function childrenMs(): Promise<number> {
  const stat = await readFile('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function figuresOf(source: string, { decodeMs, detectMs }: Cost): Figure[] {
  return [
    { name: `${source}, decoding`, value: decodeMs, unit: 'ms/s' },
    { name: `${source}, detection`, value: detectMs, unit: 'ms/s' },
    { name: `${source}, streams a core`, value: 1000 / (decodeMs + detectMs), unit: 'streams' },
  ];
}

function stillFiguresOf(source: string, cost: Cost): Figure[] {
  return [
    ...figuresOf(`${source}, \`still\``, cost),
    { name: `${source}, frames that repeat`, value: cost.repeated * 100, unit: '%' },
  ];
}
