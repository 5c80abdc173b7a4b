import { z } from 'zod';
import { fail, refusalOf } from '@vision/contracts/errors';
import {
  EVENT_STREAM_HEADERS,
  eventStreamDoc,
  lastEventIdDoc,
  sendEventStream,
} from '@vision/shared/http/event-stream';
import { route } from '@vision/shared/http/route';
import { cursorInvalid } from '../domain/cursor.ts';
import { eventBody } from '../domain/event.ts';
import { parseStreamQuery } from '../domain/event-query.ts';
import type { Deps } from '../use-cases/deps.ts';
import { followEvents, placeToBegin } from '../use-cases/log/follow-events.ts';
import type { StreamedEvent } from '../use-cases/log/follow-events.ts';
import { typesDoc } from './list-events.ts';

const documented = z.object({
  cursor: z
    .string()
    .optional()
    .describe('`resume_cursor` of a page or `id` of an event. `Last-Event-ID` takes precedence'),
  types: typesDoc,
});

export const getEventStreamRoute = (deps: Pick<Deps, 'cursors' | 'db' | 'streams' | 'watch'>) =>
  route(
    {
      operation: 'getEventStream',
      method: 'get',
      path: '/v1/vision/events/stream',
      summary: 'Streams events of your tasks',
      description:
        'Sends each event as a server-sent event as soon as it is logged: `event` is its type, `data` an Event, `id` the ' +
        'cursor behind it. Without a cursor it begins with the next event. The service closes a stream after about ' +
        'ten minutes, during updates, and when the API key is no longer valid. Reconnect with `Last-Event-ID` within the ' +
        'retention (30 days by default, `EVENT_DAYS` of the operator), and you miss no event and receive none twice. ' +
        'Later, the first event is `events.missed`: it stands for those that expired, or that a restored log lacks. ' +
        'Events of tasks that you have deleted are not sent. A comment is sent at the beginning and every 10 s.',
      tag: 'Events',
      audience: 'public',
      endsWithDeadline: false,
      queryDoc: documented,
      headers: lastEventIdDoc,
      responses: {
        200: eventStreamDoc,
      },
      refusalExamples: () => [
        refusalOf(() => parseStreamQuery({ types: 'task.paused' })),
        refusalOf(() => parseStreamQuery({ limit: '1' })),
        cursorInvalid(),
        fail.rateLimited('too_many_in_flight', 1, { limit: 'event_streams', allowed: 20 }),
      ],
    },
    async ({ caller: { subject }, req, res, signal: left }) => {
      const { cursor, types } = parseStreamQuery(req.query);
      const lastId = req.headers['last-event-id'];
      const at = (typeof lastId === 'string' && lastId) || cursor;
      const from = await placeToBegin(deps, subject, at);
      if (req.method === 'HEAD') return { status: 200, headers: EVENT_STREAM_HEADERS };
      const signal = AbortSignal.any([left, deps.streams.begin(res)]);
      await sendEventStream(res, followEvents(deps, { subject, from, types, signal }), { textOf, signal });
      return undefined;
    },
  );

function textOf(streamed: StreamedEvent): string {
  // An id without data advances the cursor of a client without an event.
  if (streamed.kind === 'heartbeat') return `:\nid: ${streamed.id}\n\n`;
  const { id, event } = streamed;
  return `event: ${event.type}\nid: ${id}\ndata: ${JSON.stringify(eventBody(event))}\n\n`;
}
