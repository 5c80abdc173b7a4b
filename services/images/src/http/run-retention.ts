import { z } from 'zod';
import { runRetention as question } from '@vision/contracts/retention';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { runRetention } from '../use-cases/run-retention.ts';

const removed = z.object({ image_calls: z.int(), pictures: z.int() });

export const runRetentionRoute = (deps: Deps) =>
  route(
    {
      ...question,
      operation: 'runImageRetention',
      summary: 'Removes expired images, results and keys now',
      audience: 'internal',
      responses: { 200: { description: 'Removed objects and rows', schema: removed } },
    },
    async ({ signal }) => ({ status: 200, body: await runRetention(deps, signal) }),
  );
