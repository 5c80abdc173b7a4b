import { z } from 'zod';
import { taskPath } from '@vision/contracts/ids';
import { refusalOf } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import { MOST_GAPS } from '../domain/fold/coverage.ts';
import { gapReasons } from '../domain/gap-reasons.ts';
import { BUCKETS, MAX_BUCKETS, parseTimelineQuery, tooManyBuckets } from '../domain/timeline-query.ts';
import { notVideoTask, taskNotFound } from '../use-cases/read/find-task.ts';
import { getTimeline } from '../use-cases/read/get-timeline.ts';
import type { TimelineDeps } from '../use-cases/read/get-timeline.ts';
import { coverage, coverageBody } from './coverage.ts';

const time = z.int().meta({ format: 'int64' });
const count = z.int().min(0);

const timeline = z
  .object({
    bucket_ms: z.int().describe('Length of a bucket, in milliseconds'),
    min_score: z.number().describe('Score from which objects and tracks count'),
    as_of_ms: time
      .nullable()
      .describe('`frame_time_ms` of the newest frame that the answer counts; null without a frame'),
    coverage,
    items: z
      .array(
        z.object({
          from_ms: time.describe('Start of the bucket, a multiple of `bucket_ms`'),
          covered_ms: count.describe('Time of the bucket with frames, in milliseconds'),
          frames: count.describe('Number of frames'),
          labels: z.array(
            z.object({
              label: z.string(),
              tracks_begun: count.describe('Number of tracks whose first frame is in the bucket'),
              objects_max: count.describe('Largest number of objects in one frame'),
              object_frames: count.describe('Number of frames with an object'),
            }),
          ),
        }),
      )
      .describe('Buckets in order; those without coverage and objects are left out'),
    gaps: z
      .array(
        z.object({
          from_ms: time.describe('Start of the gap'),
          to_ms: time.describe('End of the gap, exclusive'),
          reason: z
            .enum(gapReasons)
            .describe(
              '`source_away`: the camera could not be reached. `source_silent`: the source was connected and had no ' +
                'frame. `overload`: the service was too busy. `worker_lost`: a worker failed and another one took ' +
                'over. `not_started`: analysis had not begun. `unknown`: the inference backend does not report it',
            ),
        }),
      )
      .describe(
        `Time without frames, in order: the ${MOST_GAPS.toLocaleString('en')} longest gaps. A gap with several ` +
          'reasons is several entries that follow each other',
      ),
  })
  .meta({ id: 'Timeline', description: 'Objects of a video task over time, and where it has no frames' });

const example: z.infer<typeof timeline> = {
  bucket_ms: 300_000,
  min_score: 0.5,
  as_of_ms: 1_773_565_799_800,
  coverage: {
    from_ms: 1_773_565_200_000,
    to_ms: 1_773_565_800_000,
    covered_ms: 570_000,
    gaps: 1,
  },
  items: [
    {
      from_ms: 1_773_565_200_000,
      covered_ms: 300_000,
      frames: 1500,
      labels: [{ label: 'person', tracks_begun: 2, objects_max: 2, object_frames: 214 }],
    },
    { from_ms: 1_773_565_500_000, covered_ms: 270_000, frames: 1350, labels: [] },
  ],
  gaps: [{ from_ms: 1_773_565_560_000, to_ms: 1_773_565_590_000, reason: 'source_away' }],
};

/** For the document only: the rules of `domain/timeline-query.ts` decide. */
const documented = z.object({
  from_ms: z
    .int()
    .optional()
    .describe(
      'Start, as `frame_time_ms`, rounded down to a bucket; the start of the task by default. ' +
        'Negative for uploads only',
    ),
  to_ms: z
    .int()
    .optional()
    .describe('End, as `frame_time_ms`, exclusive, rounded up to a bucket; the end of the task, or now, by default'),
  bucket_ms: z
    .enum(BUCKETS.map(String))
    .optional()
    .describe(
      'Length of a bucket, in milliseconds. By default the smallest of 60000 or more with which the range has ' +
        `${MAX_BUCKETS.toLocaleString('en')} buckets at most. 1000 is for uploads, and for 10 minutes of a stream`,
    ),
  min_score: z
    .number()
    .min(0)
    .max(0.95)
    .multipleOf(0.05)
    .optional()
    .describe(
      'Score from which objects, and tracks by their best score, count: a multiple of 0.05. By default the ' +
        'threshold of the task, rounded down',
    ),
});

export const getTimelineRoute = (deps: TimelineDeps) =>
  route(
    {
      operation: 'getTimeline',
      method: 'get',
      path: '/v1/vision/tasks/{task_id}/timeline',
      summary: 'Returns the objects of a video task over time, and the times without frames',
      description:
        'A second is covered if it has a frame. At less than two sampled frames per second, a frame covers two ' +
        'sampling periods, in whole seconds. `covered_ms` of all buckets and all gaps add up to the time of `coverage`.',
      tag: 'Tracks',
      audience: 'public',
      params: taskPath,
      queryDoc: documented,
      responses: { 200: { description: 'Timeline', schema: timeline, example } },
      refusalExamples: () => [
        refusalOf(() => parseTimelineQuery({ bucket_ms: '1' })),
        refusalOf(() => parseTimelineQuery({ colour: 'red' })),
        tooManyBuckets(),
        notVideoTask(),
        taskNotFound(),
      ],
    },
    async ({ params, caller, req, signal }) => {
      const query = parseTimelineQuery(req.query);
      const found = await getTimeline(deps, { subject: caller.subject, taskId: params.task_id, query, signal });
      return {
        status: 200,
        body: {
          bucket_ms: found.bucketMs,
          min_score: found.minScore / 1e6,
          as_of_ms: found.asOfMs,
          coverage: coverageBody(found.coverage),
          items: found.items.map(({ fromMs, coveredMs, frames, labels }) => ({
            from_ms: fromMs,
            covered_ms: coveredMs,
            frames,
            labels: labels.map(({ label, tracksBegun, objectsMax, objectFrames }) => ({
              label,
              tracks_begun: tracksBegun,
              objects_max: objectsMax,
              object_frames: objectFrames,
            })),
          })),
          gaps: found.gaps.map(({ fromMs, toMs, reason }) => ({ from_ms: fromMs, to_ms: toMs, reason })),
        },
      };
    },
  );
