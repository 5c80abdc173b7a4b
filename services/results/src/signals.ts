import { meter } from '@vision/shared/telemetry';
import type { Logger } from '@vision/shared/logger';

export type Signals = ReturnType<typeof createSignals>;

export function createSignals(logger: Logger) {
  const stored = meter('results').createCounter('vision.results.frames_stored', { unit: '{frame}' });
  const ignored = meter('results').createCounter('vision.results.frames_ignored', {
    unit: '{frame}',
    description: 'Frames of an older attempt, or of tasks whose results have expired',
  });
  const completed = meter('results').createCounter('vision.results.completed', { description: 'End marks in force' });
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
    dropBlocked: (day: string) => {
      blocked.add(1);
      logger.warn({ day }, 'a partition is in use and is dropped later');
    },
    retentionRan: (removed: { partitions: number; tasks: number }) => {
      if (removed.partitions + removed.tasks > 0) logger.info(removed, 'expired results were removed');
    },
  };
}
