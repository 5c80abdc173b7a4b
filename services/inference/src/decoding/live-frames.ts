import { setTimeout as delay } from 'node:timers/promises';
import { backoff } from '@vision/shared/async/backoff';
import { createSnapshotPairs } from '../domain/pair-snapshots.ts';
import type { LiveSnapshot } from '../domain/pair-snapshots.ts';
import { SourceError } from '@vision/streams/source-error';
import { isFatal, SourceAway } from '../domain/source-failure.ts';
import type { SourceReason } from '@vision/streams/source-error';
import type { LiveReader } from '../readers/live-reader.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { DecodedFrame, DecoderListener } from './decoder.ts';
import { createFreshest } from './freshest.ts';
import type { Freshest } from './freshest.ts';
import { createLiveClock } from './live-clock.ts';
import { readConnection } from './live-connection.ts';
import type { ConnectionSettings } from './live-connection.ts';

export interface LiveSettings extends ConnectionSettings {
  /** After this long without any frame the source counts as lost. */
  giveUpMs: number;
  /** After this long without any frame the wait for the source ends (SourceAway); undefined: it does not. */
  parkMs?: number | undefined;
  backoff: { minMs: number; maxMs: number };
  /** A connection that delivers frames for this long resets the backoff. */
  goodAfterMs: number;
}

export const LIVE_DEFAULTS: LiveSettings = {
  sampling: { fps: 5, fit: { kind: 'longest_side', side: 1280 } },
  noFrameMs: 20_000,
  giveUpMs: 600_000,
  backoff: { minMs: 1000, maxMs: 30_000 },
  goodAfterMs: 60_000,
  killGraceMs: 3000,
};

const FORMAT_PAUSE_MS = 250;
const STALLED_AFTER_MS = 2000;
/** A frame that waits for this share of a frame interval is held up by its consumer. */
const OVERDUE_SHARE = 0.75;

export interface LiveFrame {
  /** Unix time in milliseconds; grows from frame to frame. */
  timeMs: number;
  image: { width: number; height: number };
  pixels: DecodedFrame['pixels'];
}

export interface LiveDeps {
  sandbox: Sandbox;
  /** Opens the source; the first time at the validated address, later the name is resolved again. */
  openInput: (isFirst: boolean, signal: AbortSignal) => Promise<LiveReader>;
  /** The wall clock that dates frames. */
  now?: (() => number) | undefined;
  /** Observes every decoder that is started for the source. */
  decoderListener?: DecoderListener | undefined;
  /** Receives the snapshots, when the sampling includes them, and counts those that are skipped. */
  snapshots?: { onSnapshot: (snapshot: LiveSnapshot) => void; onLate: () => void } | undefined;
  /** State of the source in earlier attempts. */
  before?: { hadFrames: boolean; awayMs: number | undefined } | undefined;
  /** Called for every lost connection, with the time until the next one. */
  onRetry?: ((reason: SourceReason, pauseMs: number) => void) | undefined;
}

export interface LiveWatch {
  /** The newest frame at each pull; older frames since the last pull are dropped and counted. */
  frames: AsyncGenerator<LiveFrame, void>;
  health: () => LiveHealth;
}

/** State of a live source. */
export interface LiveHealth {
  /**
   * `stalled`: the source sends no frames. `blocked`: a frame waits for a busy consumer; never a reason to reconnect.
   */
  state: 'connecting' | 'running' | 'stalled' | 'blocked';
  dropped: number;
  /** Dropped frames that waited for the consumer; the other dropped frames came in a burst. */
  overdue: number;
  reconnects: number;
  /** Frames that arrived so far. */
  frames: number;
  /** Arrival of the last frame by the wall clock; before the first one, the start. */
  lastFrameAtMs: number;
  /** Why the last connection ended, until a frame arrives over the next one. */
  lost: SourceReason | undefined;
  /** The source has been unavailable for so long that it has a slot only for single connections. */
  isAway: boolean;
}

/**
 * Reads a live source until it ends by itself, `signal` aborts, it fails finally (SourceError), or it is unavailable
 * for too long (SourceAway). Output of ffmpeg is read at once, so a slow consumer drops frames and never slows down the
 * connection.
 */
export function watchLive(deps: LiveDeps, settings: LiveSettings, signal: AbortSignal): LiveWatch {
  const { now = Date.now } = deps;
  const freshest = createFreshest<LiveFrame>({ overdueMs: (OVERDUE_SHARE * 1000) / settings.sampling.fps });
  const progress: Progress = {
    frames: 0,
    hadFrames: deps.before?.hadFrames ?? false,
    lastFrameAt: now() - (deps.before?.awayMs ?? 0),
    reconnects: 0,
    goodSince: undefined,
    lost: undefined,
    isAway: deps.before?.awayMs !== undefined,
  };
  async function* frames(): AsyncGenerator<LiveFrame, void> {
    // The consumer may stop before the job ends, so the connection ends with the signal or with the consumer.
    const consumerLeft = new AbortController();
    const watched = { freshest, progress, now, signal: AbortSignal.any([signal, consumerLeft.signal]) };
    const done = follow(deps, settings, watched).then(
      () => freshest.end(),
      (error: unknown) => freshest.end(error instanceof Error ? error : new SourceError('decoder_failed')),
    );
    try {
      for (let frame = await freshest.take(); frame !== undefined; frame = await freshest.take()) yield frame;
    } finally {
      consumerLeft.abort();
      await done;
    }
  }
  const stateOf = (): LiveHealth['state'] => {
    if (freshest.isWaiting()) return 'blocked';
    if (progress.frames === 0) return 'connecting';
    return now() - progress.lastFrameAt < STALLED_AFTER_MS ? 'running' : 'stalled';
  };
  return {
    frames: frames(),
    health: () => ({
      state: stateOf(),
      dropped: freshest.dropped(),
      overdue: freshest.overdue(),
      reconnects: progress.reconnects,
      frames: progress.frames,
      lastFrameAtMs: progress.lastFrameAt,
      lost: progress.lost,
      isAway: progress.isAway,
    }),
  };
}

interface Progress {
  frames: number;
  /** In this attempt or an earlier one. */
  hadFrames: boolean;
  lastFrameAt: number;
  reconnects: number;
  isAway: boolean;
  /** Time since which the connection delivers frames. */
  goodSince: number | undefined;
  lost: SourceReason | undefined;
}

interface Watched {
  freshest: Freshest<LiveFrame>;
  progress: Progress;
  now: () => number;
  signal: AbortSignal;
}

/** Reconnects until the source ends by itself or the signal aborts. @throws SourceError */
async function follow(deps: LiveDeps, settings: LiveSettings, watched: Watched): Promise<void> {
  const { freshest, progress, now, signal } = watched;
  const isStopped = () => signal.aborted;
  const clock = createLiveClock();
  const pairs = createSnapshotPairs({
    now,
    onPair: (snapshot) => deps.snapshots?.onSnapshot(snapshot),
    onLate: () => deps.snapshots?.onLate(),
  });
  const onFrame = ({ ptsMs, image, pixels }: DecodedFrame) => {
    const arrivedAt = now();
    progress.frames += 1;
    progress.goodSince ??= arrivedAt;
    progress.lastFrameAt = arrivedAt;
    progress.lost = undefined;
    progress.hadFrames = true;
    progress.isAway = false;
    const timeMs = clock.timeOf(ptsMs, arrivedAt);
    if (deps.snapshots) pairs.frame(ptsMs, timeMs);
    if (timeMs !== undefined) freshest.put({ timeMs, image, pixels });
  };
  let failures = 0;
  for (let isFirst = true; !isStopped(); isFirst = false) {
    clock.reset();
    pairs.reset();
    progress.goodSince = undefined;
    const reason = await readConnection(() => deps.openInput(isFirst, signal), settings, {
      sandbox: deps.sandbox,
      onFrame,
      onSnapshot: pairs.snapshot,
      decoderListener: deps.decoderListener,
      signal,
    });
    if (reason === undefined || isStopped()) return;
    if (isFatal(reason, progress.hadFrames)) throw new SourceError(reason);
    const leftMs = timeLeft(settings, { progress, reason, nowMs: now() });
    failures = goodMs(progress) >= settings.goodAfterMs ? 1 : failures + 1;
    // A changed format is no failure of the source: it only needs other filters.
    const pauseMs =
      reason === 'format_changed'
        ? FORMAT_PAUSE_MS
        : Math.min(leftMs, backoff(failures, { ...settings.backoff, jitter: 'full' }));
    progress.reconnects += 1;
    progress.lost = reason;
    deps.onRetry?.(reason, pauseMs);
    // An abort ends the pause, and with it the loop.
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Time left to wait for an unavailable source in this attempt.
 * @throws SourceError, SourceAway
 */
function timeLeft(
  { giveUpMs, parkMs = giveUpMs }: LiveSettings,
  { progress, reason, nowMs }: { progress: Progress; reason: SourceReason; nowMs: number },
): number {
  const awayMs = nowMs - progress.lastFrameAt;
  if (awayMs >= giveUpMs) throw new SourceError('source_lost');
  if (awayMs < parkMs) return Math.min(giveUpMs, parkMs) - awayMs;
  const isNew = !progress.isAway;
  progress.isAway = true;
  progress.lost = reason;
  throw new SourceAway(awayMs, isNew);
}

/** How long the last connection delivered frames. */
function goodMs({ goodSince, lastFrameAt }: Progress): number {
  return goodSince === undefined ? 0 : lastFrameAt - goodSince;
}
