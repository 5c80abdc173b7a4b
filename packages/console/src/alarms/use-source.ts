import { isActive } from '../components/status.tsx';
import { dataOf } from '../state/data.ts';
import { useSession } from '../state/session.ts';
import { useLoaded } from '../state/use-loaded.ts';
import type { Loaded } from '../state/use-loaded.ts';
import type { TaskEntry } from '../state/use-tasks.ts';
import type { Source } from '../task/task-view.ts';

const EVERY_MS = 3_000;

/** How the source of the chosen task is; undefined without a task. */
export function useSource(task: TaskEntry | undefined): Loaded<Source | undefined> {
  const { client } = useSession();
  return useLoaded<Source | undefined>({
    key: task?.task_id ?? '',
    load: async (signal) => {
      if (!task) return undefined;
      const params = { path: { task_id: task.task_id } };
      return dataOf(await client.api.GET('/v1/vision/tasks/{task_id}/source', { params, signal }));
    },
    everyMs: (source) => (task && isActive(task.status) && source?.state !== 'ended' ? EVERY_MS : undefined),
  });
}
