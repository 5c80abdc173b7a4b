import type { SourceReason } from '@vision/streams/source-error';
import type { LiveReader } from '../readers/live-reader.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { DecodedFrame } from './decoder.ts';
import type { Video } from './ffmpeg-reasons.ts';
import { readConnection } from './live-connection.ts';
import { measureGroups } from './measure-groups.ts';

/** What a live stream shows in a moment. */
export interface LiveProbe {
  video: Video | undefined;
  /** Frames a second by their own times; undefined with fewer than two. */
  fps: number | undefined;
  /** The newest frame. */
  frame: DecodedFrame | undefined;
  /** Why there is no frame; undefined when there is one. */
  reason: SourceReason | undefined;
  /** Processor time of reader and decoder, milliseconds. */
  processorMs: number;
}

export interface LiveProbeOptions {
  sandbox: Sandbox;
  /** Opens the stream, and reports the process group of its reader. */
  open: (signal: AbortSignal, onStarted: (processGroup: number) => void) => Promise<LiveReader>;
  /** Longest side of the frame. */
  longestSide: number;
  withinMs: number;
  /** Ends the probe earlier. */
  signal: AbortSignal;
}

/** Frames are counted up to this rate. */
const MOST_FPS = 60;
/** Time of the stream that its frame rate is measured over, and how long that may take. */
const RATE_MS = 1_000;
const RATE_WITHIN_MS = 3_000;
const KILL_GRACE_MS = 500;

/**
 * Reads one connection to a live stream until its frame rate is known, `withinMs` have passed or `signal` aborts. Its
 * processes are gone when this resolves. @throws errors of `open` that are no failure of the source
 */
export async function probeLive({ open, sandbox, ...options }: LiveProbeOptions): Promise<LiveProbe> {
  const enough = new AbortController();
  const late = AbortSignal.timeout(options.withinMs);
  const signal = AbortSignal.any([options.signal, late, enough.signal]);
  const meter = measureGroups();
  // Registered before those that end the processes, so the last reading finds them.
  signal.addEventListener('abort', meter.read, { once: true });
  const rate = createRate();
  let video: Video | undefined;
  let frame: DecodedFrame | undefined;
  let timer: NodeJS.Timeout | undefined;
  const onFrame = (next: DecodedFrame) => {
    frame = next;
    timer ??= setTimeout(() => enough.abort(), RATE_WITHIN_MS);
    if (rate.add(next.ptsMs) >= RATE_MS) enough.abort();
  };
  const sampling = { fps: MOST_FPS, fit: { kind: 'longest_side', side: options.longestSide } } as const;
  try {
    const reason = await readConnection(
      () => open(signal, meter.add),
      { sampling, noFrameMs: options.withinMs, killGraceMs: KILL_GRACE_MS },
      {
        sandbox,
        onFrame,
        decoderListener: { started: (groups) => groups.forEach(meter.add), sees: (seen) => (video = seen) },
        signal,
      },
    );
    const failure = late.aborted ? 'timeout' : (reason ?? 'stream_ended');
    const processorMs = meter.end(signal.aborted);
    return { video, frame, fps: rate.value(), reason: frame ? undefined : failure, processorMs };
  } finally {
    clearTimeout(timer);
    meter.end(true);
  }
}

/** The rate of frames by their own times. */
function createRate() {
  let first: number | undefined;
  let last = 0;
  let count = 0;
  return {
    /** @returns the time from the first frame to this one */
    add: (ptsMs: number): number => {
      first ??= ptsMs;
      last = ptsMs;
      count += 1;
      return last - first;
    },
    value: (): number | undefined => {
      const spanMs = last - (first ?? 0);
      if (count < 2 || spanMs <= 0) return undefined;
      return Math.min(MOST_FPS, Math.round(((count - 1) * 10_000) / spanMs) / 10);
    },
  };
}
