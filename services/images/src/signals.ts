import type { Logger } from '@vision/shared/logger';
import { createCounter, createHistogram, observe } from '@vision/shared/telemetry/instruments';
import type { ImageCall, ImageFault } from './domain/image-call.ts';
import { metrics } from './metrics.ts';

export type Signals = ReturnType<typeof createSignals>;

/** Business events: one function each, with counter and log line. */
export function createSignals(logger: Logger) {
  const calls = createCounter(metrics.calls);
  const images = createCounter(metrics.images);
  const duration = createHistogram(metrics.callDuration);
  const removed = createCounter(metrics.removed);
  const speculation = createCounter(metrics.headStarts);
  const late = createCounter(metrics.late);
  return {
    observeSlots,
    callFinished: (call: ImageCall, seconds: number) => {
      calls.add(1, { outcome: 'finished' });
      duration.record(seconds);
      logger.info({ ...factsOf(call), seconds }, 'image call finished');
    },
    speculated: (outcome: 'kept' | 'in_vain') => speculation.add(1, { outcome }),
    callReplayed: () => calls.add(1, { outcome: 'replayed' }),
    callRolledBack: (taskId: string, reason: string) => {
      calls.add(1, { outcome: 'undone' });
      logger.warn({ task_id: taskId, reason }, 'image call rolled back');
    },
    leaseNotRenewed: (taskId: string, cause: unknown) => {
      logger.warn({ task_id: taskId, err: cause }, 'the lease of a call could not be renewed');
    },
    callTakenOver: (taskId: string) => {
      logger.warn({ task_id: taskId }, 'the process of an image call died; rolling the call back');
    },
    imageSucceeded: () => images.add(1, { outcome: 'succeeded' }),
    imageFailed: ({ taskId, seq, code, cause }: { taskId: string; seq: number; code: ImageFault; cause: unknown }) => {
      images.add(1, { outcome: code });
      const facts = { task_id: taskId, seq, code };
      if (code === 'OP-TASK-REQUEST-INVALID') logger.info(facts, 'image cannot be decoded');
      else logger.warn({ ...facts, err: cause }, 'image failed');
    },
    quotaNotTold: (taskId: string, call: 'settle' | 'refund', cause: unknown) => {
      late.add(1, { call });
      logger.warn({ task_id: taskId, call, err: cause }, 'quota did not answer; the event settles the reservation');
    },
    picturesLeftBehind: (taskId: string, cause: unknown) => {
      const facts = { task_id: taskId, err: cause };
      logger.warn(facts, 'images of a rolled back call not removed; the sweep removes them');
    },
    rollbackFailed: (taskId: string, cause: unknown) => {
      logger.warn({ task_id: taskId, err: cause }, 'image call not rolled back; recovery repeats it');
    },
    picturesRemoved: (count: number, reason: 'deleted' | 'expired' | 'orphaned') => {
      removed.add(count, { reason });
      if (count > 0) logger.info({ count, reason }, 'images removed');
    },
  };
}

const factsOf = (call: ImageCall) => ({
  task_id: call.taskId,
  subject: call.subject,
  scene_code: call.sceneCode,
  images_total: call.imagesTotal,
  images_succeeded: call.imagesSucceeded,
});

interface CallSlots {
  calls: () => number;
  most: number;
  spoolBytes: () => number;
}

/** Exports the load of this process: calls, and bytes of their images. */
function observeSlots({ calls, most, spoolBytes }: CallSlots): void {
  observe(metrics.places, (tell) => {
    tell(calls(), { state: 'used' });
    tell(Math.max(0, most - calls()), { state: 'free' });
  });
  observe(metrics.spoolBytes, (tell) => tell(spoolBytes()));
}
