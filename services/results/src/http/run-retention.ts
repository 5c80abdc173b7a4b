import { z } from 'zod';
import { runRetention as question } from '@vision/contracts/retention';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { runRetention } from '../use-cases/retain/run-retention.ts';
import { sweepAllTrackSnapshots } from '../use-cases/retain/sweep-track-snapshots.ts';

const removed = z.object({
  partitions: z.int().describe('Days of frames'),
  tasks: z.int().describe('Records of tasks'),
  images: z.int().describe('Stored images of tracks that no track refers to'),
});

export const runRetentionRoute = (deps: Deps) =>
  route(
    {
      ...question,
      operation: 'runResultRetention',
      summary: 'Removes expired results now',
      audience: 'internal',
      responses: { 200: { description: 'Removed objects and rows', schema: removed } },
    },
    async () => {
      const expired = await runRetention(deps);
      return { status: 200, body: { ...expired, images: await sweepAllTrackSnapshots(deps) } };
    },
  );
