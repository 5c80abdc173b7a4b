import type { Knex } from 'knex';
import { z } from 'zod';
import { imageCallFinished } from '@vision/shared/contracts/image-events';
import { route } from '@vision/shared/http/route';
import type { Clock } from '../db/idempotency-keys.ts';
import { toSnapshot } from '../domain/image-call.ts';
import { getImageCall } from '../use-cases/get-image-call.ts';

const reply = imageCallFinished.schema.and(z.object({ kind: z.literal('image') }));

export const getImageCallRoute = (deps: { db: Knex; clock: Clock }) =>
  route(
    {
      operation: 'getImageCall',
      method: 'get',
      path: '/internal/v1/image-calls/{task_id}',
      summary: 'Whether an id names an image call of this subject',
      audience: 'internal',
      params: z.object({ task_id: z.guid().toLowerCase() }),
      responses: { 200: { description: 'The call as its event tells it', schema: reply } },
    },
    async ({ params, caller }) => {
      const call = await getImageCall(deps, { subject: caller.subject, taskId: params.task_id });
      return { status: 200, body: { ...toSnapshot(call, 'succeeded'), kind: 'image' } };
    },
  );
