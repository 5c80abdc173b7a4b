import { countFramesOfTasks as question } from '@vision/contracts/results';
import { route } from '@vision/shared/http/route';
import { countFramesOfTasks } from '../use-cases/operate/count-stored-frames.ts';
import type { Deps } from '../use-cases/deps.ts';

export const countFramesOfTasksRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      ...question,
      operation: 'countFramesOfTasks',
      summary: 'Returns the numbers of stored frames of many tasks',
      audience: 'internal',
      responses: { 200: { description: 'Without unknown tasks', schema: question.reply } },
    },
    async ({ body }) => {
      const stored = await countFramesOfTasks(deps, body.task_ids);
      const items = [...stored].map(([taskId, { frames, completedAttempt }]) => ({
        task_id: taskId,
        frames_stored: frames,
        completed_attempt: completedAttempt,
      }));
      return { status: 200, body: { items } };
    },
  );
