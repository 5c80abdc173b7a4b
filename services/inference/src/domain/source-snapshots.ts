import type { SourceChangedData } from '@vision/contracts/job-events';
import type { JobRecord } from './job.ts';
import type { SourceReason } from '@vision/streams/source-error';

/** What is known of a source at one moment. */
export interface SourceFacts {
  state: SourceChangedData['state'];
  reason?: SourceReason | undefined;
  codec?: string | undefined;
  image?: { width: number; height: number } | undefined;
  /** Frames that arrived so far. */
  frames?: number | undefined;
  sampleFps?: number | undefined;
  isBehind?: boolean | undefined;
  reconnects?: number | undefined;
  /** Of a live source; its begin before the first frame. */
  lastFrameAtMs?: number | undefined;
  /** When a live source fails that gives no frame until then. */
  givesUpAtMs?: number | undefined;
  durationMs?: number | undefined;
}

export type DropReason = 'fresher' | 'no_number' | 'not_held' | 'unsent';

/** Snapshots of the source of one attempt at a job, each when it is due. */
export interface SourceSnapshots {
  watch: (read: () => SourceFacts) => void;
  dropped: (reason: DropReason, frames: number) => void;
  /** The next snapshot: after a change at once, else every minute; undefined when none is due. */
  next: () => SourceChangedData | undefined;
  /** A last one with all counts; undefined when nothing was watched. */
  last: () => SourceChangedData | undefined;
}

const EVERY_MS = 60_000;
/** Frames are counted over so long. */
const RATE_MS = 3_000;
/** A frame waits for the detector now and then; only a wait that lasts means that this worker is too slow. */
const BLOCKED_MS = 2_000;
/** Below this share of its frame rate a source is slow. */
const SLOW_SHARE = 0.6;

/** Makes snapshots from facts that are read at each call of `next`. */
export function createSnapshots(
  { jobId, attempt }: Pick<JobRecord, 'jobId' | 'attempt'>,
  now: () => number,
): SourceSnapshots {
  const dropped = { fresher: 0, no_number: 0, not_held: 0, unsent: 0 };
  const rate = createRate();
  const settle = settleBlocked();
  let read: (() => SourceFacts) | undefined;
  let n = 0;
  let reported: { key: string; atMs: number } | undefined;
  let held: { state: string; sinceMs: number } | undefined;

  const snapshotOf = (facts: SourceFacts, atMs: number): SourceChangedData => {
    const { state, reason, codec, image, frames, sampleFps, isBehind, reconnects, durationMs } = facts;
    const name = `${state} ${reason ?? ''}`;
    if (held?.state !== name) held = { state: name, sinceMs: beginOf(facts, atMs) };
    n += 1;
    return {
      job_id: jobId,
      attempt,
      n,
      at_ms: atMs,
      since_ms: held.sinceMs,
      state,
      reason,
      codec: codec !== undefined && /^[a-z0-9_]{1,20}$/.test(codec) ? codec : undefined,
      image,
      sample_fps: sampleFps,
      measured_fps: frames === undefined ? undefined : rate.perSecond(),
      is_behind: isBehind,
      dropped: { ...dropped },
      reconnects,
      duration_ms: durationMs,
      ...absenceOf(facts),
    };
  };
  const readNow = (atMs: number): SourceFacts | undefined => {
    const facts = read?.();
    if (!facts) return undefined;
    if (facts.frames !== undefined) rate.count(atMs, facts.frames);
    return { ...facts, state: settle(facts.state, atMs) };
  };
  return {
    watch: (reader) => void (read = reader),
    dropped: (reason, frames) => void (dropped[reason] += frames),
    next: () => {
      const atMs = now();
      const facts = readNow(atMs);
      if (!facts) return undefined;
      const key = keyOf(facts, rate.perSecond());
      if (reported?.key === key && atMs - reported.atMs < EVERY_MS) return undefined;
      reported = { key, atMs };
      return snapshotOf(facts, atMs);
    },
    last: () => {
      const atMs = now();
      const facts = readNow(atMs);
      return facts && snapshotOf(facts, atMs);
    },
  };
}

/** A source is quiet since its last frame, which is noticed later. */
function beginOf({ state, lastFrameAtMs = Infinity }: SourceFacts, atMs: number): number {
  return state === 'stalled' || state === 'waiting' ? Math.min(lastFrameAtMs, atMs) : atMs;
}

/** Since when a live source gives no frame, and until when it is waited for. */
function absenceOf({
  state,
  lastFrameAtMs,
  givesUpAtMs,
}: SourceFacts): Pick<SourceChangedData, 'away_since_ms' | 'gives_up_at_ms'> {
  if (state === 'streaming' || state === 'blocked' || state === 'processing') return {};
  return { away_since_ms: whole(lastFrameAtMs), gives_up_at_ms: whole(givesUpAtMs) };
}

const whole = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms));

/** What has to differ for a snapshot before its time. */
function keyOf({ state, reason, codec, image, sampleFps, isBehind }: SourceFacts, fps: number | undefined): string {
  const isSlow = state === 'streaming' && fps !== undefined && fps < SLOW_SHARE * (sampleFps ?? 0);
  return JSON.stringify([state, reason, codec, image?.width, image?.height, isBehind, isSlow]);
}

/** Frames a second over the last seconds; undefined before they are over. */
function createRate() {
  const counts: { atMs: number; frames: number }[] = [];
  return {
    count: (atMs: number, frames: number) => {
      counts.push({ atMs, frames });
      while (counts[1] !== undefined && counts[1].atMs <= atMs - RATE_MS) counts.shift();
    },
    perSecond: (): number | undefined => {
      const [first, last] = [counts.at(0), counts.at(-1)];
      if (!first || !last || last.atMs - first.atMs < RATE_MS) return undefined;
      return Math.round((10_000 * (last.frames - first.frames)) / (last.atMs - first.atMs)) / 10;
    },
  };
}

/** Passes `blocked` on once it has held for a while. */
function settleBlocked() {
  let sinceMs: number | undefined;
  return (state: SourceFacts['state'], atMs: number): SourceFacts['state'] => {
    if (state !== 'blocked') {
      sinceMs = undefined;
      return state;
    }
    sinceMs ??= atMs;
    return atMs - sinceMs >= BLOCKED_MS ? 'blocked' : 'streaming';
  };
}
