import { getImageCall as question } from '@vision/contracts/images';
import { route } from '@vision/shared/http/route';
import { toSnapshot } from '../domain/image-call.ts';
import type { Deps } from '../use-cases/deps.ts';
import { getImageCall } from '../use-cases/get-image-call.ts';

export const getImageCallRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      ...question,
      operation: 'getImageCall',
      summary: 'Returns whether an id names an image call of this subject',
      audience: 'internal',
      responses: { 200: { description: 'The image call, with the fields of its event', schema: question.reply } },
    },
    async ({ params, caller }) => {
      const call = await getImageCall(deps, { subject: caller.subject, taskId: params.task_id });
      return { status: 200, body: { ...toSnapshot(call, 'succeeded'), kind: 'image' } };
    },
  );
