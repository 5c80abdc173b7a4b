import type { Knex } from 'knex';
import { z } from 'zod';
import { storedFramesReply } from '@vision/shared/contracts/results';
import { route } from '@vision/shared/http/route';
import { countStored } from '../db/ingests.ts';

export const getStoredFramesRoute = ({ db }: { db: Knex }) =>
  route(
    {
      operation: 'getStoredFrames',
      method: 'get',
      path: '/internal/v1/tasks/{task_id}/stored-frames',
      summary: 'How many frames of a task are stored, for the service that decides when it has ended',
      audience: 'internal',
      params: z.object({ task_id: z.guid().toLowerCase() }),
      responses: { 200: { description: '0 for a task not heard of', schema: storedFramesReply } },
    },
    async ({ params }) => ({ status: 200, body: { frames_stored: await countStored(db, params.task_id) } }),
  );
