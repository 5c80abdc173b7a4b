import type { Knex } from 'knex';
import { countStoredFrames } from '@vision/shared/contracts/results';
import { route } from '@vision/shared/http/route';
import { countStored } from '../db/ingests.ts';

export const getStoredFramesRoute = ({ db }: { db: Knex }) =>
  route(
    {
      ...countStoredFrames,
      operation: 'getStoredFrames',
      summary: 'How many frames of a task are stored, for the service that decides when it has ended',
      audience: 'internal',
      responses: { 200: { description: '0 for a task not heard of', schema: countStoredFrames.reply } },
    },
    async ({ params }) => ({ status: 200, body: { frames_stored: await countStored(db, params.task_id) } }),
  );
