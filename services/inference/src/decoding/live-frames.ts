import { setTimeout as delay } from 'node:timers/promises';
import { startDecoder } from './decoder.ts';
import type { DecodedFrame } from './decoder.ts';
import { liveArguments } from './ffmpeg-arguments.ts';
import type { LiveSampling } from './ffmpeg-arguments.ts';
import { createFreshest } from './freshest.ts';
import type { Freshest } from './freshest.ts';
import { fullJitter } from './full-jitter.ts';
import { createLiveClock } from './live-clock.ts';
import type { LiveClock } from './live-clock.ts';
import type { LiveInput } from '../inputs/live-input.ts';
import { watchQuiet } from './quiet-time.ts';
import type { SandboxMode } from './sandbox.ts';
import { SourceError, isFatal, sourceReasonOf } from '../domain/source-error.ts';
import type { SourceReason } from '../domain/source-error.ts';

export interface LiveSettings {
  sampling: LiveSampling;
  sandbox: SandboxMode;
  /** A connection without a frame for this long is given up and built anew. */
  noFrameMs: number;
  /** After this long without any frame the source counts as lost. */
  giveUpMs: number;
  backoff: { minMs: number; maxMs: number };
  /** Frames for this long make the next pause the shortest again. */
  goodAfterMs: number;
  killGraceMs: number;
}

export const LIVE_DEFAULTS: LiveSettings = {
  sampling: { fps: 5, maxSide: 1280 },
  sandbox: 'auto',
  noFrameMs: 20_000,
  giveUpMs: 600_000,
  backoff: { minMs: 1000, maxMs: 30_000 },
  goodAfterMs: 60_000,
  killGraceMs: 3000,
};

const FORMAT_PAUSE_MS = 250;

export interface LiveFrame {
  /** Unix time in milliseconds; grows from frame to frame. */
  timeMs: number;
  image: { width: number; height: number };
  pixels: DecodedFrame['pixels'];
}

export interface LiveDeps {
  /** Opens the source; the first time to the address that was checked, later wherever the name then leads. */
  openInput: (isFirst: boolean, signal: AbortSignal) => Promise<LiveInput>;
  now: () => number;
  /** Told of every connection lost, with the time until the next try. */
  onRetry?: ((reason: SourceReason, pauseMs: number) => void) | undefined;
}

export interface LiveWatch {
  /** The freshest frame at each pull; what came between two pulls is dropped and counted. */
  frames: AsyncGenerator<LiveFrame, void>;
  health: () => LiveHealth;
}

interface LiveHealth {
  /** `stalled`: the source is quiet. `blocked`: a frame waits because the consumer is busy; never a reason to reconnect. */
  state: 'connecting' | 'running' | 'stalled' | 'blocked';
  dropped: number;
  reconnects: number;
}

/**
 * Follows a live source until it ends by itself, `signal` aborts, or it fails for good (SourceError). Whatever comes out of
 * ffmpeg is taken at once, so a slow consumer drops frames and never holds the connection back.
 */
export function watchLive(deps: LiveDeps, settings: LiveSettings, signal: AbortSignal): LiveWatch {
  const box = createFreshest<LiveFrame>();
  const left = new AbortController();
  const stop = AbortSignal.any([signal, left.signal]);
  const progress: Progress = { frames: 0, lastFrameAt: deps.now(), reconnects: 0, goodSince: undefined };
  const run = async (): Promise<void> => {
    try {
      await follow(deps, settings, { box, progress, signal: stop });
      box.end();
    } catch (error) {
      box.end(error instanceof Error ? error : new SourceError('decoder_failed'));
    }
  };
  async function* frames(): AsyncGenerator<LiveFrame, void> {
    const done = run();
    try {
      for (let frame = await box.take(); frame !== undefined; frame = await box.take()) yield frame;
    } finally {
      left.abort();
      await done;
    }
  }
  const stateOf = (): LiveHealth['state'] => {
    if (box.isWaiting()) return 'blocked';
    if (progress.frames === 0) return 'connecting';
    return deps.now() - progress.lastFrameAt < 2000 ? 'running' : 'stalled';
  };
  return {
    frames: frames(),
    health: () => ({ state: stateOf(), dropped: box.dropped(), reconnects: progress.reconnects }),
  };
}

interface Progress {
  frames: number;
  lastFrameAt: number;
  reconnects: number;
  goodSince: number | undefined;
}

interface Followed {
  box: Freshest<LiveFrame>;
  progress: Progress;
  signal: AbortSignal;
}

async function follow(deps: LiveDeps, settings: LiveSettings, followed: Followed): Promise<void> {
  const { progress, signal } = followed;
  const isStopped = () => signal.aborted;
  const clock = createLiveClock();
  let failures = 0;
  for (let isFirst = true; !isStopped(); isFirst = false) {
    clock.reset();
    progress.goodSince = undefined;
    const reason = await followOnce(deps, settings, { ...followed, clock, isFirst });
    if (reason === undefined || isStopped()) return;
    if (isFatal(reason, progress.frames > 0)) throw new SourceError(reason);
    if (deps.now() - progress.lastFrameAt >= settings.giveUpMs) throw new SourceError('source_lost');
    failures = goodMs(progress) >= settings.goodAfterMs ? 1 : failures + 1;
    const left = progress.lastFrameAt + settings.giveUpMs - deps.now();
    // A changed format is no fault of the source: it is there and only needs other filters.
    const pauseMs =
      reason === 'format_changed' ? FORMAT_PAUSE_MS : Math.min(left, fullJitter(failures, settings.backoff));
    progress.reconnects += 1;
    deps.onRetry?.(reason, pauseMs);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** How long the last connection gave frames. */
function goodMs({ goodSince, lastFrameAt }: Progress): number {
  return goodSince === undefined ? 0 : lastFrameAt - goodSince;
}

/** One connection from open to end. Undefined when the source came to its own end. */
async function followOnce(
  deps: LiveDeps,
  settings: LiveSettings,
  { box, progress, signal, clock, isFirst }: Followed & { clock: LiveClock; isFirst: boolean },
): Promise<SourceReason | undefined> {
  let input: LiveInput | undefined;
  try {
    input = await deps.openInput(isFirst, signal);
    const decoder = await startDecoder(liveArguments(input.args, settings.sampling), {
      sandbox: { mode: settings.sandbox, needsNetwork: input.needsNetwork },
      isSizeFixed: false,
      killGraceMs: settings.killGraceMs,
    });
    const open = input;
    const stop = () => {
      open.close();
      void decoder.stop();
    };
    const watch = watchQuiet(settings.noFrameMs, stop);
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) return undefined;
      input.feed(decoder.stdin);
      for await (const frame of decoder.frames()) {
        const now = deps.now();
        watch.heard();
        progress.frames += 1;
        progress.goodSince ??= now;
        progress.lastFrameAt = now;
        const timeMs = clock.timeOf(frame.ptsMs, now);
        if (timeMs !== undefined) box.put({ timeMs, image: frame.image, pixels: frame.pixels });
      }
      if (watch.isOver()) return 'timeout';
      const reason = await decoder.outcome;
      return input.isFinished() && reason === undefined ? undefined : weightiest([input.failure(), reason]);
    } finally {
      watch.stop();
      signal.removeEventListener('abort', stop);
      await decoder.stop();
    }
  } catch (error) {
    return error instanceof SourceError ? error.reason : weightiest([input?.failure(), sourceReasonOf(error)]);
  } finally {
    input?.close();
  }
}

/**
 * Each side sees the other one leave, so the one that knows why speaks: our own patience at its end, a reason that is final,
 * else the first.
 */
function weightiest(reasons: (SourceReason | undefined)[]): SourceReason {
  const known = reasons.filter((reason) => reason !== undefined);
  if (known.includes('timeout')) return 'timeout';
  return known.find((reason) => isFatal(reason, false)) ?? known[0] ?? 'stream_ended';
}
