import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { getLiveSnapshot, snapshotRefusals } from '../use-cases/follow/get-live-snapshot.ts';
import { taskParams, taskRefusals } from './task-view.ts';

export const getLiveSnapshotRoute = (deps: Pick<Deps, 'db' | 'images' | 'inference'>) =>
  route(
    {
      operation: 'getLiveSnapshot',
      method: 'get',
      path: '/v1/vision/tasks/{task_id}/live-snapshot',
      summary: 'Returns the newest frame of a live stream as an image',
      description:
        'The frame is at most 2 s old and its longest side has at most 1280 pixels. The first request waits up to 3 s ' +
        'for a frame. Frames are encoded and stored only while they are requested, and removed a minute later. ' +
        'Requires a task with `snapshots`.',
      tag: 'Video tasks',
      audience: 'public',
      params: taskParams,
      responses: {
        200: {
          description: 'Frame',
          mediaTypes: ['image/jpeg'],
          headers: ['X-Frame-Time-Ms', 'Cache-Control'],
        },
      },
      refusalExamples: () => [
        ...taskRefusals(),
        ...snapshotRefusals(),
        fail.upstreamDown('inference_unreachable'),
        fail.upstreamDown('inference_answer_unexpected'),
        fail.breakerOpen(5),
        fail.sysUnavailable('inference_not_configured'),
      ],
    },
    async ({ res, params, caller, signal }) => {
      const { subject } = caller;
      const { jpeg, frameTimeMs } = await getLiveSnapshot(deps, { subject, taskId: params.task_id, signal });
      res
        .status(200)
        .set({ 'Content-Type': 'image/jpeg', 'Content-Length': String(jpeg.length), 'Content-Disposition': 'inline' })
        .set({ 'Cache-Control': 'no-store', 'X-Frame-Time-Ms': String(frameTimeMs) });
      res.end(jpeg);
      return undefined;
    },
  );
