import { deleteImageCalls as question } from '@vision/contracts/images';
import { route } from '@vision/shared/http/route';
import { deleteImageCalls } from '../use-cases/delete-image-calls.ts';
import type { Deps } from '../use-cases/deps.ts';

export const deleteImageCallsRoute = (deps: Pick<Deps, 'db' | 'logger' | 'settings' | 'signals' | 'store'>) =>
  route(
    {
      ...question,
      operation: 'deleteImageCalls',
      summary: 'Removes image calls that their owners have deleted',
      audience: 'internal',
      responses: { 200: { description: 'Image calls that are deleted completely', schema: question.reply } },
    },
    async ({ body }) => ({ status: 200, body: { task_ids: await deleteImageCalls(deps, body.task_ids) } }),
  );
