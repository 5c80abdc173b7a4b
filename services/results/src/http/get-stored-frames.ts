import { countStoredFrames as question } from '@vision/contracts/results';
import { route } from '@vision/shared/http/route';
import { countStoredFrames } from '../use-cases/operate/count-stored-frames.ts';
import type { Deps } from '../use-cases/deps.ts';

export const getStoredFramesRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      ...question,
      operation: 'getStoredFrames',
      summary: 'Returns the number of stored frames of a task, for the service that decides when it has ended',
      audience: 'internal',
      responses: { 200: { description: '0 for an unknown task', schema: question.reply } },
    },
    async ({ params }) => {
      const { frames, completedAttempt } = await countStoredFrames(deps, params.task_id);
      return { status: 200, body: { frames_stored: frames, completed_attempt: completedAttempt } };
    },
  );
