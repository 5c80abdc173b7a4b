import { z } from 'zod';
import { taskPath } from '@vision/contracts/ids';
import { refusalOf } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import { cursorInvalid } from '../domain/cursor.ts';
import { DEFAULT_TRACKS, MAX_LABELS, MAX_TRACKS, parseTrackQuery, trackOrders } from '../domain/track-query.ts';
import { notVideoTask, taskNotFound } from '../use-cases/read/find-task.ts';
import { listTracks } from '../use-cases/read/list-tracks.ts';
import type { TrackDeps } from '../use-cases/read/list-tracks.ts';
import { exampleTrack, track, trackBody } from './track.ts';

const trackPage = z
  .object({
    items: z.array(track),
    next_cursor: z.string().describe('Cursor of the next page; empty on the last page'),
    resume_cursor: z
      .string()
      .describe(
        'With `order=changed`: returns each track that changes after this page, with its latest state. With ' +
          '`order=oldest`: returns tracks that begin later. Empty with `order=newest` and when no track can follow',
      ),
    as_of_ms: z
      .int()
      .nullable()
      .meta({ format: 'int64' })
      .describe('`frame_time_ms` of the newest frame that the answer counts; null without a frame'),
  })
  .meta({ id: 'TrackPage' });

/** For the document only: the rules of `domain/track-query.ts` decide. */
const documented = z.object({
  cursor: z.string().optional().describe('Cursor of an earlier page of this task with the same `order`'),
  limit: z.int().min(1).max(MAX_TRACKS).default(DEFAULT_TRACKS).describe('Tracks on a page'),
  order: z
    .enum(trackOrders)
    .default('oldest')
    .describe('`oldest`, `newest`: by first frame. `changed`: by latest change, to follow a running task'),
  labels: z
    .string()
    .optional()
    .describe(`Labels to list, comma separated, at most ${MAX_LABELS}. An unknown label matches no track`),
  from_ms: z
    .int()
    .optional()
    .describe('Lists tracks whose last frame is at or after this `frame_time_ms`; negative for uploads only'),
  to_ms: z.int().optional().describe('Lists tracks whose first frame is before this `frame_time_ms`'),
  min_score: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Lowest best score of a track, 0 to 1; the threshold of the task by default'),
  min_duration_ms: z.int().min(0).default(0).describe('Shortest time between first and last frame, in milliseconds'),
  state: z.enum(['active', 'ended']).optional().describe('State of the tracks. A page may hold fewer than `limit`'),
});

export const listTracksRoute = (deps: TrackDeps) =>
  route(
    {
      operation: 'listTracks',
      method: 'get',
      path: '/v1/vision/tasks/{task_id}/tracks',
      summary: 'Lists the tracks of a video task',
      tag: 'Tracks',
      audience: 'public',
      params: taskPath,
      queryDoc: documented,
      responses: {
        200: {
          description: 'Page of tracks',
          schema: trackPage,
          example: {
            items: [exampleTrack],
            next_cursor: '',
            resume_cursor: 'AQAAAAGdMWlDkGExLTcoezdubWZLRW0d3TBYidDJDZQ',
            as_of_ms: 1_773_565_260_000,
          },
        },
      },
      refusalExamples: () => [
        refusalOf(() => parseTrackQuery({ limit: '0' })),
        refusalOf(() => parseTrackQuery({ colour: 'red' })),
        cursorInvalid(),
        notVideoTask(),
        taskNotFound(),
      ],
    },
    async ({ params, caller, req }) => {
      const { task_id: taskId } = params;
      const query = parseTrackQuery(req.query);
      const list = await listTracks(deps, { subject: caller.subject, taskId, query });
      return {
        status: 200,
        body: {
          items: list.items.map((one) => trackBody(taskId, one)),
          next_cursor: list.nextCursor,
          resume_cursor: list.resumeCursor,
          as_of_ms: list.asOfMs,
        },
      };
    },
  );
