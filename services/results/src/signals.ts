import { createCounter, createGauge, createHistogram } from '@vision/shared/telemetry/instruments';
import type { AlarmKind } from '@vision/contracts/alarms';
import type { JobEndedData } from '@vision/contracts/frame-events';
import type { Logger } from '@vision/shared/logger';
import type { FrameConflict } from './domain/fold-events.ts';
import type { SegmentPlace } from './domain/segments/segment-key.ts';
import { metrics } from './metrics.ts';

export type Signals = ReturnType<typeof createSignals>;

export function createSignals(logger: Logger) {
  const stored = createCounter(metrics.stored);
  const ignored = createCounter(metrics.ignored);
  const readableAge = createHistogram(metrics.readableAge);
  const completed = createCounter(metrics.completed);
  const conflicts = createCounter(metrics.conflicts);
  const holes = createCounter(metrics.holes);
  const waits = createCounter(metrics.waits);
  const blocked = createCounter(metrics.blocked);
  const foldLag = createGauge(metrics.foldLag);
  const compactionLag = createGauge(metrics.compactionLag);
  const failing = createFailingTime();
  return {
    ...segmentSignals(logger),
    ...alarmSignals(logger),
    framesStored: (frames: number) => {
      if (frames > 0) stored.add(frames);
    },
    /** A frame of a live stream that was captured at this time (Unix milliseconds) has become readable. */
    frameReadable: (capturedMs: number) => {
      readableAge.record(Math.max(0, Date.now() - capturedMs) / 1000, { kind: 'live' });
    },
    framesIgnored: (reason: 'older_attempt' | 'expired' | 'deleted', frames: number) => {
      if (frames > 0) ignored.add(frames, { reason });
    },
    resultsCompleted: (taskId: string, frames: number) => {
      completed.add(1);
      logger.info({ task_id: taskId, frames }, 'every frame of the task is stored');
    },
    framesConflict: (taskId: string, { seq, keptAttempt, refusedAttempt }: FrameConflict) => {
      conflicts.add(1);
      const facts = { task_id: taskId, seq, kept_attempt: keptAttempt, refused_attempt: refusedAttempt };
      logger.error(facts, 'two different frames have one number: the later one is not stored');
    },
    endWaits: (taskId: string, { attempt, attempt_frames: published }: JobEndedData, stored: number) => {
      waits.add(1);
      logger.info({ task_id: taskId, attempt, published, stored }, 'an end-of-stream marker waits for frames');
    },
    framesMissing: (taskId: string, { attempt, attempt_frames: published }: JobEndedData, stored: number) => {
      holes.add(1);
      logger.error({ task_id: taskId, attempt, published, stored }, 'frames of a task are missing');
    },
    /** Seconds since the first due task became due. */
    foldLag: (seconds: number) => foldLag.record(Math.max(0, seconds)),
    compactionLag: (seconds: number) => compactionLag.record(Math.max(0, seconds, failing.seconds())),
    compactionTried: failing.tried,
    dropBlocked: (day: string) => {
      blocked.add(1);
      logger.warn({ day }, 'a partition is in use and is dropped later');
    },
    retentionRan: (removed: { partitions: number; tasks: number }) => {
      if (removed.partitions + removed.tasks > 0) logger.info(removed, 'expired results were removed');
    },
  };
}

function segmentSignals(logger: Logger) {
  const segmentsStored = createCounter(metrics.segmentsStored);
  const segmentFrames = createCounter(metrics.segmentFrames);
  const segmentBytes = createCounter(metrics.segmentBytes);
  const unreadable = createCounter(metrics.unreadable);
  const repaired = createCounter(metrics.repaired);
  const oldestUnverified = createGauge(metrics.oldestUnverified);
  return {
    framesCompacted: ({ segments, frames, bytes }: { segments: number; frames: number; bytes: number }) => {
      segmentsStored.add(segments);
      segmentFrames.add(frames);
      segmentBytes.add(bytes);
    },
    segmentUnreadable: (taskId: string, { day, objectKey }: SegmentPlace, error: unknown) => {
      unreadable.add(1);
      const facts = { task_id: taskId, day, object_key: objectKey, err: error };
      logger.error(facts, 'a segment of frames cannot be read');
    },
    segmentRepaired: (taskId: string, { day, objectKey }: SegmentPlace) => {
      repaired.add(1);
      const facts = { task_id: taskId, day, object_key: objectKey };
      logger.warn(facts, 'the object of a segment was missing or damaged and was written again');
    },
    oldestUnverified: (ageS: number) => oldestUnverified.record(ageS),
    orphansRemoved: (orphans: number) => {
      logger.info({ orphans }, 'objects that became no part of a segment were removed');
    },
  };
}

function alarmSignals(logger: Logger) {
  const alarms = createCounter(metrics.alarms);
  const alarmAge = createHistogram(metrics.alarmAge);
  const crossingsLeftOut = createCounter(metrics.crossingsLeftOut);
  const clockSetBacks = createCounter(metrics.clockSetBacks);
  return {
    /** An alarm opened; with the time of the live frame that opened it (Unix milliseconds). */
    alarmOpened: (kind: AlarmKind, capturedMs: number | undefined) => {
      alarms.add(1, { kind, change: 'opened' });
      if (capturedMs !== undefined) alarmAge.record(Math.max(0, Date.now() - capturedMs) / 1000, { kind });
    },
    alarmClosed: (kind: AlarmKind) => alarms.add(1, { kind, change: 'closed' }),
    arrivalsUnknown: (error: unknown) => {
      logger.warn(
        { err: error },
        'cannot read from Kafka how far frames are stored; rules about absence are evaluated later',
      );
    },
    crossingsLeftOut: (taskId: string, crossings: number) => {
      crossingsLeftOut.add(crossings);
      const facts = { task_id: taskId, crossings };
      logger.warn(facts, 'a task has too many crossings within a minute; the rest raise no alarm');
    },
    /** Frames are older than those before them by this time. */
    clockSetBack: (taskId: string, ms: number) => {
      clockSetBacks.add(1);
      logger.warn(
        { task_id: taskId, behind_ms: ms },
        'the clock of a worker is behind that of the one before; the evaluation continues',
      );
    },
  };
}

/**
 * Time since attempts began to fail without a success. Each attempt postpones its task, so the lag of due tasks hides
 * it.
 */
function createFailingTime() {
  let sinceMs: number | undefined;
  return {
    tried: (hasFailed: boolean) => {
      sinceMs = hasFailed ? (sinceMs ?? performance.now()) : undefined;
    },
    seconds: () => (sinceMs === undefined ? 0 : (performance.now() - sinceMs) / 1_000),
  };
}
