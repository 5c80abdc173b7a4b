import { createGate } from '@vision/shared/async/gate';
import type { InferenceClient } from '@vision/creation/inference-client';
import type { Logger } from '@vision/shared/logger';

/** Sends stops to the backend beside the reconciler, so that a hanging one delays no other task. */
export interface StopSender {
  /** Does nothing while an earlier stop of the task is in progress. */
  send: (taskId: string) => void;
}

interface StopSenderOptions {
  inference: Pick<InferenceClient, 'stopJob'>;
  logger: Logger;
}

/** Maximum number of concurrent stops; if the backend hangs, the breaker ends the others. */
const AT_ONCE = 32;

/** A failed stop is repeated by the reconciler until the backend confirms it. */
export function createStopSender({ inference, logger }: StopSenderOptions): StopSender {
  const gate = createGate({ concurrency: AT_ONCE });
  const underWay = new Set<string>();
  const sendOne = async (taskId: string) => {
    try {
      await gate.run(() => inference.stopJob(taskId));
    } catch (error) {
      logger.warn({ err: error, task_id: taskId }, 'stop not delivered yet; it is repeated');
    } finally {
      underWay.delete(taskId);
    }
  };
  return {
    send: (taskId) => {
      if (underWay.has(taskId)) return;
      underWay.add(taskId);
      void sendOne(taskId);
    },
  };
}
