import { z } from 'zod';
import { fail } from '@vision/contracts/errors';
import { taskPath } from '@vision/contracts/ids';
import { namesTag } from '@vision/shared/http/byte-range';
import { route } from '@vision/shared/http/route';
import { notVideoTask, taskNotFound } from '../use-cases/read/find-task.ts';
import { trackNotFound } from '../use-cases/read/get-track.ts';
import { findTrackSnapshot, readTrackSnapshot, trackSnapshotRefusals } from '../use-cases/read/get-track-snapshot.ts';
import type { SnapshotDeps } from '../use-cases/read/get-track-snapshot.ts';

const headers = z.object({
  'If-None-Match': z.string().optional().describe('Entity tags; if one is that of the image, the response is 304'),
});

export const getTrackSnapshotRoute = (deps: SnapshotDeps) =>
  route(
    {
      operation: 'getTrackSnapshot',
      method: 'get',
      path: '/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot',
      summary: 'Returns an image of the object of a track',
      description:
        'The part of a frame that shows the object best, with a margin of 10 %; its longest side has at most 640 pixels. ' +
        'A better image replaces it while the track lasts, and once more when it ends. Requires a task with `snapshots`.',
      tag: 'Tracks',
      audience: 'public',
      // Any other id gets the response for an unknown track.
      params: taskPath.extend({ track_id: z.string().describe('`track_id` of an object of the task') }),
      headers,
      responses: {
        200: {
          description: 'Image',
          mediaTypes: ['image/jpeg'],
          headers: ['X-Frame-Time-Ms', 'Cache-Control', 'ETag'],
        },
        304: { description: 'Not modified', headers: ['ETag'] },
      },
      refusalExamples: () => [
        trackNotFound(),
        notVideoTask(),
        taskNotFound(),
        ...trackSnapshotRefusals(),
        fail.sysUnavailable('object_store_unavailable'),
        fail.sysUnavailable('object_store_busy'),
      ],
    },
    async ({ req, res, params, caller }) => {
      const { task_id: taskId, track_id: trackId } = params;
      const stored = await findTrackSnapshot(deps, { subject: caller.subject, taskId, trackId });
      const etag = `"${trackId}-${stored.attempt}-${stored.n}"`;
      const common = { ETag: etag, 'Cache-Control': 'private, no-cache' };
      if (namesTag(req.headers['if-none-match'], etag, 'weak')) return { status: 304, headers: common };
      const jpeg = await readTrackSnapshot(deps, stored);
      res
        .status(200)
        .set({ ...common, 'X-Frame-Time-Ms': String(stored.frameTimeMs), 'Content-Disposition': 'inline' })
        .set({ 'Content-Type': 'image/jpeg', 'Content-Length': String(jpeg.length) });
      res.end(req.method === 'HEAD' ? undefined : jpeg);
      return undefined;
    },
  );
