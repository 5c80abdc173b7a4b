import { z } from 'zod';
import { imageSize, trackedObject } from '@vision/contracts/detection';
import { taskPath } from '@vision/contracts/ids';
import { refusalOf } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import { cursorInvalid } from '../domain/cursor.ts';
import { DEFAULT_LIMIT, MAX_LIMIT, parseResultQuery } from '../domain/result-query.ts';
import { regionOf } from '@vision/contracts/region';
import { notVideoTask, taskNotFound } from '../use-cases/read/find-task.ts';
import { getResults } from '../use-cases/read/get-results.ts';
import { selectionDoc } from './selection-doc.ts';

const resultFrame = z
  .object({
    frame_id: z.string().describe('Identifier of the frame: `<task_id>-<frame number>`'),
    frame_time_ms: z
      .int()
      .meta({ format: 'int64' })
      .describe('Time of the frame in milliseconds: offset in the video (PTS) for files, Unix time for live streams'),
    image: imageSize,
    objects: z.array(trackedObject).describe('Objects at or above the effective score threshold, highest score first'),
    objects_total: z
      .int()
      .optional()
      .describe('Number of objects before score filtering; present only if `min_score` was sent'),
  })
  .meta({ id: 'ResultFrame', description: 'Result frame of a video task' });

const resultPage = z
  .object({
    items: z.array(resultFrame),
    next_cursor: z.string().describe('Cursor of the next page; empty if no further frame is stored yet'),
    resume_cursor: z
      .string()
      .describe(
        'Cursor that continues after this page, including frames not stored yet. Empty when nothing more is to come: the ' +
          'task has ended and all frames were delivered, or it ended 15 minutes ago. Stop then; an empty cursor starts ' +
          'from the first frame',
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
  cursor: z.string().optional().describe('`next_cursor` or `resume_cursor` of an earlier page of this task'),
  limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe('Maximum number of frames on the page'),
  ...selectionDoc,
});

export const getResultsRoute = (deps: Parameters<typeof getResults>[0]) =>
  route(
    {
      operation: 'getResults',
      method: 'get',
      path: '/v1/vision/tasks/{task_id}/results',
      summary: 'Returns result frames of a video task, while it runs or after it has ended',
      description:
        'Frames without objects are returned too, unless `skip_empty` is sent. A task that was created a moment ago has ' +
        'none yet: the page is empty.',
      tag: 'Results',
      audience: 'public',
      params: taskPath,
      queryDoc: documented,
      responses: {
        200: {
          description: 'Page of frames, in video order within the page',
          schema: resultPage,
          example: examplePage,
        },
      },
      refusalExamples: () => [
        refusalOf(() => parseResultQuery({ limit: '0' })),
        refusalOf(() => parseResultQuery({ colour: 'red' })),
        refusalOf(() => regionOf([])),
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
