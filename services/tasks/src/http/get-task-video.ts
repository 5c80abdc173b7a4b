import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { fail } from '@vision/contracts/errors';
import { namesTag, readByteRange } from '@vision/shared/http/byte-range';
import type { ByteRange } from '@vision/shared/http/byte-range';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { findTaskVideo, notAnUpload, videoGone } from '../use-cases/follow/find-task-video.ts';
import { taskParams, taskRefusals } from './task-view.ts';

const headers = z.object({
  Range: z
    .string()
    .optional()
    .describe('One range of bytes (RFC 9110), for example `bytes=0-1023`. Several ranges return the whole video.'),
  'If-Range': z.string().optional().describe('Entity tag; if it is not that of the video, `Range` is ignored'),
  'If-None-Match': z.string().optional().describe('Entity tags; if one is that of the video, the response is 304'),
});

/** Headers that a refusal must not have. */
const aboutVideo = ['ETag', 'Accept-Ranges', 'Content-Range', 'Content-Disposition'];
const mediaTypes = ['video/mp4', 'video/quicktime'];

export const getTaskVideoRoute = (deps: Pick<Deps, 'db' | 'images' | 'videos'>) =>
  route(
    {
      operation: 'getTaskVideo',
      method: 'get',
      path: '/v1/vision/tasks/{task_id}/video',
      summary: 'Returns the uploaded video of a task',
      description:
        'Returns the file as it was uploaded, entirely or one range of it, until the results of the task are deleted.',
      tag: 'Video tasks',
      audience: 'public',
      params: taskParams,
      headers,
      // A download takes as long as its reader needs.
      endsWithDeadline: false,
      responses: {
        200: { description: 'Video', mediaTypes, headers: ['Accept-Ranges', 'ETag'] },
        206: { description: 'Requested range', mediaTypes, headers: ['Accept-Ranges', 'Content-Range', 'ETag'] },
        304: { description: 'Not modified', headers: ['ETag'] },
      },
      refusalExamples: () => [
        ...taskRefusals(),
        notAnUpload(),
        videoGone(),
        fail.rangeUnsatisfiable(146_515),
        fail.rateLimited('too_many_in_flight', 1, { limit: 'video_downloads', allowed: 4 }),
        fail.sysUnavailable('object_store_unavailable'),
        fail.sysUnavailable('object_store_busy'),
      ],
    },
    async ({ req, res, params, caller, signal }) => {
      const { subject } = caller;
      const { key, bytes, mediaType } = await findTaskVideo(deps, { subject, taskId: params.task_id, signal });
      const etag = `"${params.task_id}"`;
      const common = { ETag: etag, 'Cache-Control': 'private, no-cache' };
      if (namesTag(req.headers['if-none-match'], etag, 'weak')) return { status: 304, headers: common };
      const range = rangeOf(req, bytes, etag);
      const { first, last } = range ?? { first: 0, last: bytes - 1 };
      res
        .status(range ? 206 : 200)
        .set({ ...common, 'Accept-Ranges': 'bytes', 'Content-Type': mediaType })
        .set({ 'Content-Length': String(last - first + 1), 'Content-Disposition': 'inline' });
      if (range) res.set('Content-Range', `bytes ${first}-${last}/${bytes}`);
      if (req.method === 'HEAD') {
        res.end();
        return undefined;
      }
      await deps.videos.send({ key, first, bytes: last - first + 1, subject, signal }, res).catch((error: unknown) => {
        if (!res.headersSent) for (const name of aboutVideo) res.removeHeader(name);
        throw error;
      });
      return undefined;
    },
  );

/** The requested range; undefined for the whole video. `Range` is defined for GET only. */
function rangeOf(req: IncomingMessage, bytes: number, etag: string): ByteRange | undefined {
  const condition = req.headers['if-range'];
  const isIgnored = condition !== undefined && !namesTag(String(condition), etag, 'strong');
  const range = readByteRange(req.method === 'HEAD' || isIgnored ? undefined : req.headers.range, bytes);
  if (range === 'unsatisfiable') throw fail.rangeUnsatisfiable(bytes);
  return range === 'whole' ? undefined : range;
}
