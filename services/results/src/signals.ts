import { meter } from '@vision/shared/telemetry';
import type { JobEndedData } from '@vision/shared/contracts/frame-events';
import type { Logger } from '@vision/shared/logger';
import type { FrameConflict } from './domain/fold-events.ts';

export type Signals = ReturnType<typeof createSignals>;

export function createSignals(logger: Logger) {
  const stored = meter('results').createCounter('vision.results.frames_stored', { unit: '{frame}' });
  const ignored = meter('results').createCounter('vision.results.frames_ignored', {
    unit: '{frame}',
    description: 'Frames of an older attempt, or of tasks whose results have expired',
  });
  const completed = meter('results').createCounter('vision.results.completed', { description: 'End marks in force' });
  const conflicts = meter('results').createCounter('vision.results.frame_conflicts', {
    unit: '{frame}',
    description: 'Frames that were not stored because another frame has their number; any growth is an alarm',
  });
  const holes = meter('results').createCounter('vision.results.holes', {
    description: 'Tasks whose end mark speaks of frames that never came; any growth is an alarm',
  });
  const waits = meter('results').createCounter('vision.results.ends_waited', {
    description: 'Times an end mark was there before the frames that it speaks of',
  });
  // Alarms are there from the start, so that their first increase is seen.
  conflicts.add(0);
  holes.add(0);
  const blocked = meter('results').createCounter('vision.results.partition_drops_blocked', {
    description: 'Partitions that could not be dropped for now because they were in use',
  });
  return {
    framesStored: (frames: number) => {
      if (frames > 0) stored.add(frames);
    },
    framesIgnored: (reason: 'older_attempt' | 'expired', frames: number) => {
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
      logger.info({ task_id: taskId, attempt, published, stored }, 'an end mark waits for frames');
    },
    framesMissing: (taskId: string, { attempt, attempt_frames: published }: JobEndedData, stored: number) => {
      holes.add(1);
      logger.error({ task_id: taskId, attempt, published, stored }, 'frames of a task are missing');
    },
    dropBlocked: (day: string) => {
      blocked.add(1);
      logger.warn({ day }, 'a partition is in use and is dropped later');
    },
    retentionRan: (removed: { partitions: number; tasks: number }) => {
      if (removed.partitions + removed.tasks > 0) logger.info(removed, 'expired results were removed');
    },
  };
}
