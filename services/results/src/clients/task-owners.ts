import { z } from 'zod';
import { taskStatus } from '@vision/shared/contracts/task-events';
import { asAppError } from '@vision/shared/errors';
import type { ServiceClient } from '@vision/shared/http/service-client';
import type { TaskView } from '../db/task-views.ts';

export interface TaskOwners {
  /** Whose is this id? The video task, `image` for an image call, undefined when it is none of this subject's. */
  find: (subject: string, taskId: string) => Promise<TaskView | 'image' | undefined>;
}

const videoTask = z.object({
  task_id: z.string(),
  kind: z.enum(['stream', 'upload']),
  version: z.int().min(0),
  subject: z.string(),
  status: taskStatus,
  lower_bound: z.number(),
  default_min_score: z.number(),
  ended_at: z.string().optional(),
  result_expires_at: z.string(),
});
const imageCall = z.object({ task_id: z.string(), kind: z.literal('image') });
const anyTask = z.discriminatedUnion('kind', [videoTask, imageCall]);

/** Asks tasks first and images then, one after the other whatever the first says about video. */
export function createTaskOwners(tasks: ServiceClient, images: ServiceClient): TaskOwners {
  return {
    find: async (subject, taskId) => {
      const video = await found(() =>
        tasks.call(anyTask, { method: 'GET', path: `/internal/v1/tasks/${taskId}`, subject }),
      );
      // A version of somebody else's task would be a fault of the other service; it must not become readable here.
      if (video) return video.kind === 'image' ? 'image' : video.subject === subject ? video : undefined;
      const call = await found(() =>
        images.call(imageCall, { method: 'GET', path: `/internal/v1/image-calls/${taskId}`, subject }),
      );
      return call ? 'image' : undefined;
    },
  };
}

async function found<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (asAppError(error)?.kind === 'not_found') return undefined;
    throw error;
  }
}
