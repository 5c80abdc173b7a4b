import { z } from 'zod';
import { taskPath } from '@vision/contracts/ids';
import { fail, refusalOf } from '@vision/contracts/errors';
import {
  EVENT_STREAM_HEADERS,
  eventStreamDoc,
  lastEventIdDoc,
  sendEventStream,
} from '@vision/shared/http/event-stream';
import { route } from '@vision/shared/http/route';
import { cursorInvalid, isAfterEnd, nothingRead } from '../domain/cursor.ts';
import { regionOf } from '@vision/contracts/region';
import { checkTimes, parseStreamQuery } from '../domain/result-query.ts';
import type { Deps } from '../use-cases/deps.ts';
import { findTask, notVideoTask, taskNotFound } from '../use-cases/read/find-task.ts';
import { followResults } from '../use-cases/read/follow-results.ts';
import type { ResultEvent } from '../use-cases/read/follow-results.ts';
import { selectionDoc } from './selection-doc.ts';

type StreamDeps = Pick<
  Deps,
  'cursors' | 'db' | 'searches' | 'settings' | 'signals' | 'store' | 'streams' | 'taskOwners' | 'wakeFold' | 'watch'
>;

const documented = z.object({
  cursor: z
    .string()
    .optional()
    .describe('Cursor of a page or `id` of an event of this task. `Last-Event-ID` takes precedence'),
  ...selectionDoc,
});

export const getResultStreamRoute = (deps: StreamDeps) =>
  route(
    {
      operation: 'getResultStream',
      method: 'get',
      path: '/v1/vision/tasks/{task_id}/results/stream',
      summary: 'Streams result frames of a video task',
      description:
        'Sends each frame as a server-sent event `frame` as soon as it is stored: `data` is a ResultFrame, `id` the ' +
        'cursor behind it. After the last frame of an ended task comes `end` with the `status` of the task; ' +
        'reconnecting then returns 204. With `to_ms` the stream also stays open until the task has ended. The service ' +
        'closes a stream after about ten minutes, during updates, and when the API key is no longer valid. Reconnect ' +
        'with `Last-Event-ID`, and you miss no frame and receive none twice. A comment is sent every 10 s.',
      tag: 'Results',
      audience: 'public',
      endsWithDeadline: false,
      params: taskPath,
      queryDoc: documented,
      headers: lastEventIdDoc,
      responses: {
        200: eventStreamDoc,
        204: { description: 'The task has ended and the client has received `end`' },
      },
      refusalExamples: () => [
        refusalOf(() => parseStreamQuery({ labels: '' })),
        refusalOf(() => parseStreamQuery({ limit: '1' })),
        refusalOf(() => regionOf([])),
        cursorInvalid(),
        notVideoTask(),
        taskNotFound(),
        fail.rateLimited('too_many_in_flight', 1, { limit: 'event_streams', allowed: 20 }),
      ],
    },
    async ({ params: { task_id: taskId }, caller, req, res, signal: left }) => {
      const { cursor, ...selection } = parseStreamQuery(req.query);
      const lastId = req.headers['last-event-id'];
      const at = (typeof lastId === 'string' && lastId) || cursor;
      const task = await findTask(deps, caller.subject, taskId);
      checkTimes(selection, task.kind);
      const from = at === undefined ? nothingRead : deps.cursors.decode(taskId, at);
      if (isAfterEnd(from) && (task.is_complete || task.is_long_over)) return { status: 204 };
      if (req.method === 'HEAD') return { status: 200, headers: EVENT_STREAM_HEADERS };
      const signal = AbortSignal.any([left, deps.streams.begin(res)]);
      const asked = { subject: caller.subject, taskId, task, from, selection, signal };
      await sendEventStream(res, followResults(deps, asked), { textOf, signal });
      return undefined;
    },
  );

function textOf(event: ResultEvent): string | Buffer {
  // An id without data advances the cursor of a client without an event.
  if (event.kind === 'heartbeat') return `:\nid: ${event.id}\n\n`;
  const head = `event: ${event.kind}\nid: ${event.id}\ndata: `;
  if (event.kind === 'end') return `${head}${JSON.stringify({ status: event.status })}\n\n`;
  return Buffer.concat([Buffer.from(head), event.frame, Buffer.from('\n\n')]);
}
