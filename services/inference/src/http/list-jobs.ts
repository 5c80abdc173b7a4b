import { z } from 'zod';
import { jobList } from '@vision/contracts/inference';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { listJobs } from '../use-cases/list-jobs.ts';

const MAX_IDS = 100;

export const listJobsRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      operation: 'listJobs',
      method: 'get',
      path: '/v1/jobs',
      summary: 'Returns many jobs at once, without ids that do not exist',
      audience: 'backend',
      query: z.object({ ids: z.string().describe('Up to 100 job ids, separated by commas') }),
      responses: { 200: { description: 'The jobs found.', schema: jobList } },
    },
    async ({ query }) => {
      const ids = query.ids.split(',').filter((id) => id !== '');
      if (ids.length > MAX_IDS) throw fail.requestInvalid('too_many_ids', 'Ask for 100 ids at most.', { field: 'ids' });
      return { status: 200, body: { jobs: await listJobs(deps, ids) } };
    },
  );
