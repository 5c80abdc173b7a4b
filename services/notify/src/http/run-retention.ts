import { z } from 'zod';
import { runRetention as question } from '@vision/contracts/retention';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { runRetention } from '../use-cases/log/run-retention.ts';

const removed = z.object({ events: z.int(), alarms: z.int(), rules: z.int(), tasks: z.int(), deliveries: z.int() });

export const runRetentionRoute = (deps: Pick<Deps, 'db' | 'signals' | 'settings'>) =>
  route(
    {
      ...question,
      operation: 'runEventRetention',
      summary: 'Removes expired events now',
      audience: 'internal',
      responses: {
        200: { description: 'Removed objects and rows', schema: removed },
      },
    },
    async () => ({ status: 200, body: await runRetention(deps) }),
  );
