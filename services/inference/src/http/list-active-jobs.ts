import { z } from 'zod';
import { activeJobs, activeJobsPath } from '@vision/contracts/inference';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { listActiveJobs } from '../use-cases/list-active-jobs.ts';

export const listActiveJobsRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      operation: 'listActiveJobs',
      method: 'get',
      path: activeJobsPath,
      summary: 'Lists jobs that have not ended, page by page (optional)',
      audience: 'backend',
      query: z.object({
        after: z.uuid().default('00000000-0000-0000-0000-000000000000').describe('next_cursor of the page before'),
        limit: z.coerce.number<string>().int().min(1).max(100).default(100),
      }),
      responses: { 200: { description: 'In the order of their ids.', schema: activeJobs } },
    },
    async ({ query }) => ({ status: 200, body: await listActiveJobs(deps, query) }),
  );
