import { getImageCall } from '@vision/shared/contracts/images';
import type { ImageCallSnapshot } from '@vision/shared/contracts/image-events';
import { asAppError } from '@vision/shared/errors';
import { createServiceClient } from '@vision/shared/http/service-client';
import type { Logger } from '@vision/shared/logger';
import type { Task } from '../domain/task.ts';

export interface ImagesClient {
  /** An image call of this subject as a task; undefined when there is none. @throws AppError OP-SYS-UNAVAILABLE. */
  find: (subject: string, taskId: string) => Promise<Task | undefined>;
}

export interface ImagesClientOptions {
  baseUrl: string;
  tokenKey: string;
  timeoutMs: number;
  logger: Logger;
}

export function createImagesClient(options: ImagesClientOptions): ImagesClient {
  const { ask } = createServiceClient({ ...options, issuer: 'tasks', audience: 'images' });
  return {
    async find(subject, taskId) {
      try {
        const snapshot = await ask(getImageCall, { subject, params: { task_id: taskId } });
        return snapshot.subject === subject && snapshot.status === 'succeeded' ? imageTask(snapshot) : undefined;
      } catch (error) {
        if (asAppError(error)?.kind === 'not_found') return undefined;
        throw error;
      }
    },
  };
}

/** An image call as the task that the history shows. */
export function imageTask(call: ImageCallSnapshot): Task {
  const updatedAt = new Date(call.updated_at);
  return {
    taskId: call.task_id,
    subject: call.subject,
    kind: 'image',
    requestId: call.request_id,
    sceneCode: call.scene_code,
    status: call.status,
    version: call.version,
    attempt: 1,
    lowerBound: 0,
    defaultMinScore: 0,
    reservationId: call.reservation_id,
    sourceLabel: null,
    objectKey: null,
    reason: null,
    admittedAt: null,
    stopRequestedAt: null,
    stopSentAt: null,
    stopsSent: 0,
    job: {
      status: null,
      seenAt: null,
      missingSince: null,
      endedAt: null,
      framesPublished: null,
      resultsCompletedAt: null,
    },
    trace: { traceparent: null, tracestate: null },
    createdAt: new Date(call.created_at),
    updatedAt,
    endedAt: updatedAt,
    resultExpiresAt: new Date(call.result_expires_at),
  };
}
