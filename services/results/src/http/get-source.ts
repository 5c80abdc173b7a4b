import { z } from 'zod';
import { imageSize } from '@vision/contracts/detection';
import { taskPath } from '@vision/contracts/ids';
import { sourceState } from '@vision/contracts/job-events';
import { taskStatus } from '@vision/contracts/task-events';
import { refusalOf } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import { cursorInvalid } from '../domain/cursor.ts';
import { endedReasons } from '@vision/contracts/ended-reason';
import { DEFAULT_LIMIT, MAX_LIMIT, parsePageQuery } from '../domain/result-query.ts';
import { notVideoTask, taskNotFound } from '../use-cases/read/find-task.ts';
import { getSource } from '../use-cases/read/get-source.ts';
import type { SourceDeps } from '../use-cases/read/get-source.ts';
import { coverage, coverageBody } from './coverage.ts';

const count = z.int().min(0);
const milliseconds = z.int().meta({ format: 'int64' });
const states = [...sourceState.options, 'unknown', 'ended'] as const;

const dropped = z.object({ fresher: count, no_number: count, not_held: count, unsent: count });

const source = z
  .object({
    kind: z.enum(['stream', 'upload']).describe('Kind of the source: live stream or uploaded video'),
    state: z
      .enum(states)
      .describe(
        '`waiting`: no connection is attempted yet; or the stream has been away for over ten minutes and ' +
          'is connected to about once a minute (`give_up_after_s`). `connecting`: no frame has arrived yet. ' +
          '`streaming`: frames arrive. `stalled`: connected, no frame for 2 s. `blocked`: frames wait because the service is busy. ' +
          '`reconnecting`: the connection was lost. `processing`: frames of an uploaded video are read. `unknown`: ' +
          'the inference backend does not report it. `ended`: the task has ended',
      ),
    since_ms: milliseconds.describe('Unix time since which the state holds, in milliseconds'),
    away_since_ms: milliseconds
      .optional()
      .describe(
        'Unix time since which a live stream has given no frame, in milliseconds; left out while it gives some',
      ),
    gives_up_at_ms: milliseconds
      .optional()
      .describe(
        'Unix time at which the task fails if no frame arrives until then, in milliseconds (`give_up_after_s`)',
      ),
    last_frame_time_ms: milliseconds
      .optional()
      .describe('`frame_time_ms` of the last stored frame; of an upload, compare it with `duration_ms`'),
    duration_ms: milliseconds.optional().describe('Playing time of an uploaded video, in milliseconds'),
    sample_fps: z.number().optional().describe('Frame rate at which the source is analysed, in frames per second'),
    measured_fps: z
      .number()
      .optional()
      .describe('Rate at which frames arrived over three seconds, at most `sample_fps`, in frames per second'),
    is_behind: z.boolean().optional().describe('Whether the service is too slow for the frame rate'),
    codec: z.string().optional().describe('Video codec, such as `h264` or `hevc`'),
    image: imageSize.optional(),
    frames: z.object({
      stored: count.describe('Number of stored frames'),
      dropped: dropped
        .optional()
        .describe(
          'Frames that were read and not stored. `fresher`: a newer frame was there. `no_number`, `not_held`, ' +
            '`unsent`: a part of the service was unavailable',
        ),
    }),
    reconnects: count.optional().describe('Number of lost connections'),
    coverage: coverage.describe('Share of the last 24 hours of the task that has frames'),
    ended: z
      .object({
        status: taskStatus,
        reason: z.enum(endedReasons).optional().describe('Reason of a `failed` or `refunded` task'),
        advice: z.string().optional().describe('Suggested action of the caller, as an English sentence'),
      })
      .optional()
      .describe('End of the task; present only if it has ended'),
    items: z
      .array(
        z.object({
          at_ms: milliseconds.describe('Unix time of the change, in milliseconds'),
          state: sourceState,
          reason: z.enum(endedReasons).optional().describe('Why the last connection ended'),
        }),
      )
      .describe('Earlier states, newest first; at most 1,000 per task, short ones are left out first'),
    next_cursor: z.string().describe('Cursor of the next page; empty on the last page'),
  })
  .meta({ id: 'TaskSource', description: 'State of the source of a video task' });

const example: z.infer<typeof source> = {
  kind: 'stream',
  state: 'streaming',
  since_ms: 1_790_000_060_000,
  last_frame_time_ms: 1_790_000_120_200,
  sample_fps: 5,
  measured_fps: 4.9,
  is_behind: false,
  codec: 'h264',
  image: { width: 1920, height: 1080 },
  frames: { stored: 290, dropped: { fresher: 2, no_number: 0, not_held: 0, unsent: 0 } },
  reconnects: 1,
  coverage: { from_ms: 1_790_000_000_000, to_ms: 1_790_000_121_000, covered_ms: 118_000, gaps: 1 },
  items: [
    { at_ms: 1_790_000_060_000, state: 'streaming' },
    { at_ms: 1_790_000_058_000, state: 'connecting' },
  ],
  next_cursor: '',
};

/** For the document only: the rules of `domain/result-query.ts` decide. */
const documented = z.object({
  cursor: z.string().optional().describe('`next_cursor` of an earlier page of this source'),
  limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe('Maximum number of states per page'),
});

export const getSourceRoute = (deps: SourceDeps) =>
  route(
    {
      operation: 'getSource',
      method: 'get',
      path: '/v1/vision/tasks/{task_id}/source',
      summary: 'Returns the state of the source of a video task, and why the task failed',
      description:
        'A change is visible within 5 s. The answer names no host, path, port or address: sources that cannot be ' +
        'reached are `unreachable`, for every reason.',
      tag: 'Results',
      audience: 'public',
      params: taskPath,
      queryDoc: documented,
      responses: { 200: { description: 'State of the source with a page of earlier states', schema: source, example } },
      refusalExamples: () => [
        refusalOf(() => parsePageQuery({ limit: '0' })),
        refusalOf(() => parsePageQuery({ colour: 'red' })),
        cursorInvalid(),
        notVideoTask(),
        taskNotFound(),
      ],
    },
    async ({ params, caller, req }) => {
      const { cursor, limit } = parsePageQuery(req.query);
      const body = await getSource(deps, { subject: caller.subject, taskId: params.task_id, cursor, limit });
      return { status: 200, body: { ...body, coverage: coverageBody(body.coverage) } };
    },
  );
