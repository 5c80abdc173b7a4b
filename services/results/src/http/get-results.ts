import { z } from 'zod';
import { imageSize, trackedObject } from '@vision/shared/contracts/detection';
import { taskPath } from '@vision/shared/contracts/ids';
import { refusalOf } from '@vision/shared/errors';
import { route } from '@vision/shared/http/route';
import { cursorInvalid } from '../domain/cursor.ts';
import { DEFAULT_LIMIT, MAX_LIMIT, parseResultQuery } from '../domain/result-query.ts';
import type { Deps } from '../use-cases/deps.ts';
import { notVideoTask, taskNotFound } from '../use-cases/find-task.ts';
import { getResults } from '../use-cases/get-results.ts';

const resultFrame = z
  .object({
    frame_id: z.string().describe('<task_id>-<number of the frame>'),
    frame_time_ms: z
      .int()
      .meta({ format: 'int64' })
      .describe('Files: offset in the video (PTS). Live streams: Unix time. In milliseconds'),
    image: imageSize,
    objects: z.array(trackedObject).describe('At or above the effective score, highest first'),
    objects_total: z.int().optional().describe('Objects before the filter; only with min_score'),
  })
  .meta({ id: 'ResultFrame', description: 'One analysed frame of a video task' });

const resultPage = z
  .object({
    items: z.array(resultFrame),
    next_cursor: z.string().describe('Empty when there is no further stored frame now'),
    resume_cursor: z
      .string()
      .describe(
        'Goes on after this page, also for frames still to come; empty when the task is over and all was delivered',
      ),
  })
  .meta({ id: 'ResultPage' });

const examplePage: z.infer<typeof resultPage> = {
  items: [
    {
      frame_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-0',
      frame_time_ms: 40,
      image: { width: 1920, height: 1080 },
      objects: [
        {
          label: 'person',
          score: 0.91,
          bbox: { format: 'cxcywh_normalized', cx: 0.42, cy: 0.55, width: 0.08, height: 0.31 },
          track_id: '7',
        },
      ],
    },
  ],
  next_cursor: '',
  resume_cursor: 'AQAAAAAAAAAAAAAAKHs3bq1mS0Vt0hYw4nQyQ2U',
};

/** For the document only: the rules of `domain/result-query.ts` decide. */
const documented = z.object({
  cursor: z.string().optional().describe('next_cursor or resume_cursor of an earlier page of this task'),
  limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe('Frames a page'),
  min_score: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Raised to the lower bound inference wrote with; the threshold of the task when absent'),
});

export const getResultsRoute = (deps: Pick<Deps, 'cursors' | 'db' | 'settings' | 'signals' | 'store' | 'taskOwners'>) =>
  route(
    {
      operation: 'getResults',
      method: 'get',
      path: '/v1/vision/tasks/{task_id}/results',
      summary: 'Pull result frames of a video task',
      tag: 'Results',
      audience: 'public',
      params: taskPath,
      queryDoc: documented,
      responses: {
        200: { description: 'One page of frames, in the order of the video', schema: resultPage, example: examplePage },
      },
      refusalExamples: () => [
        refusalOf(() => parseResultQuery({ limit: '0' })),
        refusalOf(() => parseResultQuery({ colour: 'red' })),
        cursorInvalid(),
        notVideoTask(),
        taskNotFound(),
      ],
    },
    async ({ params, caller, req, res, signal }) => {
      const asked = { subject: caller.subject, taskId: params.task_id, query: parseResultQuery(req.query), signal };
      res
        .status(200)
        .type('json')
        .send(await getResults(deps, asked));
      return undefined;
    },
  );
