import { getImageCall } from '@vision/contracts/images';
import { findKnownTasks, getInternalTask } from '@vision/contracts/tasks';
import type { InternalTask } from '@vision/contracts/tasks';
import { asAppError } from '@vision/contracts/errors';
import type { ServiceClient } from '@vision/shared/http/service-client';
import type { TaskView } from '../domain/task-view.ts';

export interface TaskOwners {
  /** Owner lookup: the video task, `image` for an image call, undefined when this subject has no such id. */
  find: (subject: string, taskId: string) => Promise<TaskView | 'image' | undefined>;
  /** Returns those of these ids that are video tasks, of any subject. */
  findKnown: (taskIds: string[]) => Promise<string[]>;
}

/** Subject of requests that are made for no subject. */
const AUDITOR = 'auditor';

/** Queries tasks, then images; both are queried, also when tasks knows the id. */
export function createTaskOwners(tasks: ServiceClient, images: ServiceClient): TaskOwners {
  return {
    find: async (subject, taskId) => {
      const asking = { subject, params: { task_id: taskId } };
      const task = await unlessUnknown(tasks.ask(getInternalTask, asking));
      if (task?.kind === 'image') return 'image';
      // Tasks answers for this subject only. With this check a wrong answer shows no results to another subject.
      if (task) return task.subject === subject ? videoTask(task) : undefined;
      const call = await unlessUnknown(images.ask(getImageCall, asking));
      return call ? 'image' : undefined;
    },
    findKnown: async (taskIds) =>
      (await tasks.ask(findKnownTasks, { subject: AUDITOR, body: { task_ids: taskIds } })).task_ids,
  };
}

// Only an event has the caller's own name for the task; the scene comes with it.
const videoTask = ({ kind, scene_code: _scene, ...task }: InternalTask): TaskView =>
  kind === 'image' ? task : { ...task, kind };

async function unlessUnknown<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (asAppError(error)?.kind === 'not_found') return undefined;
    throw error;
  }
}
