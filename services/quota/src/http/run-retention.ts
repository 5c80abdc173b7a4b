import { z } from 'zod';
import { runRetention as question } from '@vision/contracts/retention';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { runRetention } from '../use-cases/run-retention.ts';

export const runRetentionRoute = (deps: Deps) =>
  route(
    {
      ...question,
      operation: 'runLedgerRetention',
      summary: 'Removes reservations older than the retention now',
      audience: 'internal',
      responses: {
        200: {
          description: 'Removed objects and rows',
          schema: z.object({ reservations: z.int(), counters: z.int() }),
        },
      },
    },
    async () => ({ status: 200, body: await runRetention(deps) }),
  );
