import { deleteImageCalls, getImageCall } from '@vision/contracts/images';
import { asAppError } from '@vision/contracts/errors';
import { createServiceClient } from '@vision/shared/http/service-client';
import type { TokenSigner } from '@vision/shared/http/service-token';
import type { Logger } from '@vision/shared/logger';
import { imageTask } from '../domain/image-task.ts';
import type { ImageTask } from '../domain/task.ts';

export interface ImagesClient {
  /** An image call of this subject as a task; undefined when there is none. @throws AppError OP-SYS-UNAVAILABLE. */
  find: (subject: string, taskId: string) => Promise<ImageTask | undefined>;
  /** Removes up to 100 image calls; returns those completely removed. @throws AppError OP-SYS-UNAVAILABLE. */
  delete: (taskIds: string[]) => Promise<string[]>;
}

/** Subject of queries about calls of any subject. */
const SUBJECT = 'tasks';

export interface ImagesClientOptions {
  baseUrl: string;
  signer: TokenSigner;
  timeoutMs: number;
  logger: Logger;
}

export function createImagesClient(options: ImagesClientOptions): ImagesClient {
  const { ask } = createServiceClient({ ...options, audience: 'images' });
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
    delete: async (taskIds) =>
      (await ask(deleteImageCalls, { subject: SUBJECT, body: { task_ids: taskIds } })).task_ids,
  };
}
