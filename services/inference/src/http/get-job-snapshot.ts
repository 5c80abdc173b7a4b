import { z } from 'zod';
import { jobSnapshot, refusal } from '@vision/contracts/inference';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { getJobSnapshot } from '../use-cases/get-job-snapshot.ts';

export const getJobSnapshotRoute = (deps: Pick<Deps, 'db' | 'snapshotWaits' | 'wakeWorker'>) =>
  route(
    {
      operation: 'getJobSnapshot',
      method: 'post',
      path: '/v1/jobs/{job_id}/snapshot',
      summary: 'Returns the newest frame of a live stream.',
      description:
        'Optional; asked of jobs that were submitted with `snapshots`. The frame is at most 2 s old. The first request ' +
        'waits up to 3 s for one; frames are encoded and stored for 15 s after a request, and removed a minute later.',
      audience: 'backend',
      params: z.object({ job_id: z.string() }),
      responses: {
        200: { description: 'The frame.', schema: jobSnapshot },
        404: { description: '`snapshot_not_yet`: no frame came in time. Otherwise none will come.', schema: refusal },
      },
    },
    async ({ params }) => {
      const outcome = await getJobSnapshot(deps, params.job_id);
      if ('snapshot' in outcome) return { status: 200, body: outcome.snapshot };
      return { status: 404, body: { reason: outcome.refusal } };
    },
  );
