import { startDecoder } from './decoder.ts';
import type { DecodedFrame, Decoder } from './decoder.ts';
import { fileArguments, intervalNumber } from './ffmpeg-arguments.ts';
import type { FileSampling } from './ffmpeg-arguments.ts';
import type { DecodedSnapshot } from './read-snapshots.ts';
import type { DecodeLimits } from '../domain/file-budget.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import { SourceError } from '@vision/streams/source-error';
import type { Sandbox } from '../sandbox/sandbox.ts';

/** Files are not urgent: live streams and images have priority. */
const NICENESS = 10;

export interface FileFramesOptions {
  sampling: Omit<FileSampling, 'afterMs'>;
  sandbox: Sandbox;
  /** Size of the video as returned by `probeFile`. */
  image: { width: number; height: number };
  /** The last sample that need not be repeated. */
  after?: { seq: number; timeMs: number } | undefined;
  /** Limits for decoding the whole file. */
  limits: DecodeLimits;
  /** Maximum time that ffmpeg may take for one sample, without the time of the consumer. */
  noFrameMs: number;
  killGraceMs: number;
  signal: AbortSignal;
  /** Receives frames in the size of snapshots, which the sampling must then name, with the times of their samples. */
  onSnapshot?: ((snapshot: { timeMs: number; pixels: RgbImage }) => void) | undefined;
}

/** One sample of a file: `seq` is its index among all samples of the file, also after a start in the middle. */
export interface FileFrame {
  seq: number;
  timeMs: number;
  image: { width: number; height: number };
  pixels: DecodedFrame['pixels'];
}

/**
 * Every sampled frame of a local MP4 or MOV file, in order. `timeMs` is the presentation time on the file's own
 * timeline with edit lists applied, like the position that a player shows: a file whose first frame is at 10 s begins
 * with 10000. ffmpeg decodes one frame ahead and waits while the consumer is slow.
 *
 * @throws SourceError when the file has no frames; a file that is cut off in the middle ends like a short one
 */
export async function* readFileFrames(path: string, options: FileFramesOptions): AsyncGenerator<FileFrame, void> {
  const { sampling, image, after, signal } = options;
  const args = fileArguments(path, { ...sampling, afterMs: after?.timeMs });
  const { sandbox, killGraceMs, limits, noFrameMs } = options;
  const { cpuSeconds } = limits;
  const run = { sandbox, file: path, isSizeFixed: true, killGraceMs, cpuSeconds, niceness: NICENESS };
  const decoder = startDecoder(args, { ...run, snapshots: snapshotsOf(options) });
  const source = { frames: decoder.frames(), decoder, noFrameMs, leftMs: limits.wallMs };
  let seq = after?.seq ?? -1;
  let interval = after === undefined ? -Infinity : intervalNumber(after.timeMs, sampling.fps);
  try {
    let ahead = nextFrame(source);
    for (;;) {
      // It may fail while the consumer processes the previous frame; the next iteration reports it.
      ahead.catch(() => undefined);
      const frame = await ahead;
      if (frame === undefined || signal.aborted) break;
      ahead = nextFrame(source);
      // When the format changes in the middle, ffmpeg rebuilds its filters, which then do not know the last sample.
      const next = intervalNumber(frame.ptsMs, sampling.fps);
      if (next <= interval) continue;
      interval = next;
      seq += 1;
      yield { seq, timeMs: timeOf(frame.ptsMs), image, pixels: frame.pixels };
    }
    const reason = signal.aborted ? undefined : await decoder.outcome;
    if (reason !== undefined) throw new SourceError(reason);
    if (seq < 0 && !signal.aborted) throw new SourceError('unreadable');
  } finally {
    await decoder.stop();
  }
}

function snapshotsOf({ sampling, onSnapshot }: FileFramesOptions) {
  if (!sampling.snapshots || !onSnapshot) return undefined;
  const { maxSide } = sampling.snapshots;
  return {
    maxSide,
    onSnapshot: ({ ptsMs, pixels }: DecodedSnapshot) => onSnapshot({ timeMs: timeOf(ptsMs), pixels }),
  };
}

const timeOf = (ptsMs: number) => Math.max(0, ptsMs);

/** ffmpeg at work on a file. */
interface Source {
  frames: AsyncGenerator<DecodedFrame, void>;
  decoder: Decoder;
  noFrameMs: number;
  /** Time left for waiting for frames. */
  leftMs: number;
}

async function nextFrame(source: Source): Promise<DecodedFrame | undefined> {
  const { frames, decoder, noFrameMs, leftMs } = source;
  const startedAt = performance.now();
  const watch = { isLate: false };
  const limitMs = Math.max(0, Math.min(noFrameMs, leftMs));
  const timer = setTimeout(() => {
    watch.isLate = true;
    void decoder.stop();
  }, limitMs);
  try {
    const { value } = await frames.next();
    if (value !== undefined) return value;
    if (watch.isLate) throw new SourceError(limitMs < noFrameMs ? 'decode_time_exceeded' : 'timeout');
    return undefined;
  } finally {
    clearTimeout(timer);
    source.leftMs -= performance.now() - startedAt;
  }
}
