import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Stream } from 'node:stream';
import { createMessageReader } from './ffmpeg-reasons.ts';
import type { Geometry, Video } from './ffmpeg-reasons.ts';
import { readRecords } from './frame-records.ts';
import type { RecordQueue } from './frame-records.ts';
import { createPuller } from './pull.ts';
import { readSnapshots } from './read-snapshots.ts';
import type { DecodedSnapshot } from './read-snapshots.ts';
import { SourceError } from '@vision/streams/source-error';
import type { SourceReason } from '@vision/streams/source-error';
import { killGroup } from '../sandbox/kill-group.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

/** One sampled frame. */
export interface DecodedFrame {
  /** Presentation time on the source's own clock, milliseconds. */
  ptsMs: number;
  /** Size of the frame before scaling, after rotation. */
  image: { width: number; height: number };
  /** RGB, 8 bits each, row by row without padding. */
  pixels: { width: number; height: number; data: Buffer };
}

export interface Decoder {
  readonly processGroup: number | undefined;
  /** Frames on demand: ffmpeg waits while the consumer does not pull. Ends when ffmpeg ends; see `outcome`. */
  frames: () => AsyncGenerator<DecodedFrame, void>;
  /** Settles when the process has ended; undefined on success. */
  outcome: Promise<SourceReason | undefined>;
  /** SIGTERM to the process group, SIGKILL after the grace period. Settles when the process has ended. */
  stop: () => Promise<void>;
}

export interface DecoderOptions {
  sandbox: Sandbox;
  /** The file that the arguments name; without one ffmpeg reads standard input only. */
  file?: string | undefined;
  /** Frames keep their size when the source changes its own, because the arguments fix it. */
  isSizeFixed: boolean;
  killGraceMs: number;
  /** Stream to read instead of a file. */
  input?: Stream | undefined;
  /** Maximum processor time in seconds. */
  cpuSeconds?: number | undefined;
  /** Nice value from the start, 0 to 19. */
  niceness?: number | undefined;
  listener?: Pick<DecoderListener, 'sees'> | undefined;
  /** Receives the images of the second output, which the arguments must then name. */
  snapshots?: SnapshotUse | undefined;
}

interface SnapshotUse {
  maxSide: number;
  onSnapshot: (snapshot: DecodedSnapshot) => void;
}

/** Observer that measures the cost of decoding. */
export interface DecoderListener {
  /** The process groups that read a connection, whose processor time can be measured; the last one decodes. */
  started: (processGroups: readonly number[]) => void;
  /** The decoder has detected the codec and the size of the video. */
  sees: (video: Video) => void;
}

/** Starts ffmpeg with arguments of `ffmpeg-arguments.ts`. @throws any error of `Sandbox.spawn` */
export function startDecoder(args: readonly string[], { sandbox, file, ...options }: DecoderOptions): Decoder {
  const readable = file === undefined ? [] : [file];
  const { cpuSeconds, niceness } = options;
  const program = { program: 'ffmpeg', args, readable, cpuSeconds, niceness };
  const more = options.snapshots ? (['pipe', 'pipe'] as const) : [];
  const descriptors = [options.input ?? 'ignore', 'pipe', 'pipe', 'pipe', ...more] as const;
  const child = sandbox.spawn(program, descriptors) as ChildProcessByStdio<null, Readable, Readable>;
  const geometry = Promise.withResolvers<Geometry | undefined>();
  const snapshotSize = Promise.withResolvers<{ width: number; height: number } | undefined>();
  const messages = createMessageReader((found) => {
    options.listener?.sees(found);
    geometry.resolve(found);
  }, snapshotSize.resolve);
  child.stderr.setEncoding('utf8').on('data', (text: string) => messages.push(text));
  // A pipe breaks when either side ends; the outcome below has the reason.
  child.stdout.on('error', () => undefined);
  const pull = createPuller(child.stdout);
  const records = readRecords(child.stdio[3] as Readable);
  const pipes = [child.stdout];
  if (options.snapshots) {
    const { maxSide, onSnapshot } = options.snapshots;
    const [pixels, records] = child.stdio.slice(4, 6) as unknown as [Readable, Readable];
    readSnapshots({ pixels, records, size: snapshotSize.promise, maxSide }, onSnapshot);
    pipes.push(pixels, records);
  }
  const closePipes = () => pipes.forEach((pipe) => pipe.destroy());

  const outcome = new Promise<SourceReason | undefined>((resolve) => {
    child.once('error', () => resolve('decoder_failed'));
    child.once('close', (code) => resolve(code === 0 ? undefined : (messages.reason() ?? 'decoder_failed')));
  }).finally(() => {
    geometry.resolve(undefined);
    snapshotSize.resolve(undefined);
  });

  let isStopped = false;
  const stop = async () => {
    isStopped = true;
    const isGone = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    closePipes();
    if (!isGone()) {
      killGroup(child, 'SIGTERM');
      const timer = setTimeout(() => killGroup(child, 'SIGKILL'), options.killGraceMs);
      await outcome.finally(() => clearTimeout(timer));
    }
    await outcome;
  };

  async function* frames(): AsyncGenerator<DecodedFrame, void> {
    try {
      for await (const frame of readFrames(pull, records, options.isSizeFixed, geometry.promise)) {
        // It may have arrived before the stop.
        if (isStopped) return;
        yield frame;
      }
    } finally {
      // A pipe that is not read to its end stays open, and Node.js then never emits `close` for the process.
      closePipes();
    }
  }
  return { processGroup: child.pid, frames, outcome, stop };
}

/** More than any model input and any snapshot has. */
const MAX_PIXELS = 4096 * 4096;

async function* readFrames(
  pull: (size: number) => Promise<Buffer | undefined>,
  records: RecordQueue,
  isSizeFixed: boolean,
  geometry: Promise<Geometry | undefined>,
): AsyncGenerator<DecodedFrame, void> {
  const size = await geometry;
  if (size === undefined) return;
  const { width, height, scaledWidth, scaledHeight } = size;
  // A compromised decoder may report any size, and the next frame is buffered entirely.
  if (width < 1 || height < 1 || scaledWidth < 1 || scaledHeight < 1 || scaledWidth * scaledHeight > MAX_PIXELS)
    throw new SourceError('decoder_failed');
  for (let isFirst = true; ; isFirst = false) {
    const record = await records.next();
    if (record === undefined) return;
    // A number 0 later on means that ffmpeg rebuilt its filters: the source changed size, and the frames may have too.
    if (record.number === 0 && !isFirst && !isSizeFixed) throw new SourceError('format_changed');
    const data = await pull(scaledWidth * scaledHeight * 3);
    if (data === undefined) return;
    yield { ptsMs: record.ptsMs, image: { width, height }, pixels: { width: scaledWidth, height: scaledHeight, data } };
  }
}
