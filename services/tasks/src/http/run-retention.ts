import { z } from 'zod';
import { runRetention as question } from '@vision/contracts/retention';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { runRetention } from '../use-cases/retain/run-retention.ts';

const removed = z.object({ tasks: z.int(), videos: z.int(), orphans: z.int(), incomplete_uploads: z.int() });

export const runRetentionRoute = (deps: Deps) =>
  route(
    {
      ...question,
      operation: 'runTaskRetention',
      summary: 'Removes expired tasks and orphaned videos now',
      audience: 'internal',
      responses: { 200: { description: 'Removed objects and rows', schema: removed } },
    },
    async () => ({ status: 200, body: await runRetention(deps) }),
  );
