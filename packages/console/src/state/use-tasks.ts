import type { components } from '@vision/client';
import { dataOf, foundOf } from './data.ts';
import { useSession } from './session.ts';
import { useLoaded } from './use-loaded.ts';
import type { Loaded } from './use-loaded.ts';

export type TaskEntry = components['schemas']['TaskHistoryEntry'];

const MOST = 50;

/** The newest video tasks, and one more that a page is about, however old it is. */
export function useTasks(wantedId: string | undefined): Loaded<TaskEntry[]> {
  const { client } = useSession();
  return useLoaded({
    key: wantedId ?? '',
    load: async (signal) => {
      const query = { kind: 'video' as const, limit: MOST };
      const { items } = dataOf(await client.api.GET('/v1/vision/tasks', { params: { query }, signal }));
      if (wantedId === undefined || items.some((task) => task.task_id === wantedId)) return items;
      const params = { path: { task_id: wantedId } };
      const task = foundOf(await client.api.GET('/v1/vision/tasks/{task_id}', { params, signal }));
      return task ? [{ ...task, kind: 'video' as const }, ...items] : items;
    },
  });
}

/** What a task is called: the name that its owner gave it, or the beginning of its id. */
export const taskName = ({ task_id: id, client_ref: ref }: { task_id: string; client_ref?: string | undefined }) =>
  ref ?? id.slice(0, 8);
