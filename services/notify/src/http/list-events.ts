import { z } from 'zod';
import { refusalOf } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import { cursorInvalid } from '../domain/cursor.ts';
import { eventBody, eventTypes } from '../domain/event.ts';
import { DEFAULT_EVENTS, MAX_EVENTS, eventOrders, parseEventQuery } from '../domain/event-query.ts';
import type { Deps } from '../use-cases/deps.ts';
import { listEvents } from '../use-cases/log/list-events.ts';
import { event, exampleEvent } from './event.ts';

const eventPage = z
  .object({
    items: z.array(event),
    next_cursor: z.string().describe('Cursor of the next page; empty on the last page'),
    resume_cursor: z
      .string()
      .describe(
        'Cursor of everything that follows: events after this page, and with `order=newest` events that are logged ' +
          'after the first page. Send it without `order`, or to the stream of events',
      ),
  })
  .meta({ id: 'EventPage' });

export const typesDoc = z
  .string()
  .optional()
  .describe(`Types to return, comma separated; all types by default: ${eventTypes.join(', ')}`);

/** For the document only: the rules of `domain/event-query.ts` decide. */
const documented = z.object({
  cursor: z.string().optional().describe('Cursor of an earlier page or of an event of the stream'),
  limit: z.int().min(1).max(MAX_EVENTS).default(DEFAULT_EVENTS).describe('Events on a page'),
  types: typesDoc,
  order: z
    .enum(eventOrders)
    .optional()
    .describe('Order of the events, `oldest` by default. A cursor keeps its own order and works with no other'),
});

export const listEventsRoute = (deps: Pick<Deps, 'cursors' | 'db'>) =>
  route(
    {
      operation: 'listEvents',
      method: 'get',
      path: '/v1/vision/events',
      summary: 'Lists events of your tasks',
      description:
        'Returns events of all your tasks from one log, retained for 30 days by default (`EVENT_DAYS` of the operator). ' +
        'No event is ever inserted before one that you have read, so `resume_cursor` misses no event within the ' +
        'retention. If events behind your cursor have expired, or the log ends before it after a restore, the first item is `events.missed`. Deleting a task ' +
        'removes its events, so numbers may be missing. The same event always has the same `event_id`.',
      tag: 'Events',
      audience: 'public',
      queryDoc: documented,
      responses: {
        200: {
          description: 'Page of events',
          schema: eventPage,
          example: {
            items: [exampleEvent],
            next_cursor: '',
            resume_cursor: 'AQAAAAAAAAAAKQAAAAAAAAApJzt6dWZpS0VtDR3dMFiJ0A',
          },
        },
      },
      refusalExamples: () => [
        refusalOf(() => parseEventQuery({ limit: '0' })),
        refusalOf(() => parseEventQuery({ colour: 'red' })),
        cursorInvalid(),
      ],
    },
    async ({ caller, req }) => {
      const list = await listEvents(deps, caller.subject, parseEventQuery(req.query));
      return {
        status: 200,
        body: {
          items: list.items.map(eventBody),
          next_cursor: list.nextCursor,
          resume_cursor: list.resumeCursor,
        },
      };
    },
  );
