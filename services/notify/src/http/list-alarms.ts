import { z } from 'zod';
import { clientRef } from '@vision/contracts/create-query';
import { refusalOf } from '@vision/contracts/errors';
import { ownName, uuidForm } from '@vision/contracts/ids';
import { parsePart, route } from '@vision/shared/http/route';
import { alarmStates, verdicts } from '../domain/alarm.ts';
import { cursorInvalid } from '../domain/cursor.ts';
import { DEFAULT_EVENTS, MAX_EVENTS, eventOrders } from '../domain/event-query.ts';
import type { Deps } from '../use-cases/deps.ts';
import { listAlarms } from '../use-cases/alarms/list-alarms.ts';
import { alarm, alarmBody, exampleReviewedAlarm } from './alarm.ts';

/** Query parameters are texts. */
const time = z
  .string()
  .regex(/^\d{1,15}$/, 'Send a whole number of milliseconds')
  .transform(Number)
  .optional();

const parameters = z.strictObject({
  cursor: z.string().max(500).optional().describe('Cursor of an earlier page'),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, `Send a whole number from 1 to ${MAX_EVENTS}`)
    .transform(Number)
    .pipe(z.int().min(1).max(MAX_EVENTS))
    .default(DEFAULT_EVENTS),
  task_id: uuidForm.optional().describe('Only alarms of this task'),
  client_ref: clientRef.optional().describe('Only alarms of tasks with this `client_ref`'),
  rule_id: ownName.optional().describe('Only alarms of this rule'),
  state: z.enum(alarmStates).optional(),
  verdict: z.enum(verdicts).optional().describe('Only alarms with this verdict; `none`: not reviewed'),
  from_ms: time,
  to_ms: time,
  order: z
    .enum(eventOrders)
    .optional()
    .describe('Order in which the alarms opened, `newest` by default. A cursor keeps its own order'),
});

const query = parameters.refine(
  ({ from_ms, to_ms }) => from_ms === undefined || to_ms === undefined || from_ms < to_ms,
  {
    path: ['to_ms'],
    error: 'Send a time after from_ms',
  },
);

const documentedTime = z.int().min(0).optional().meta({ format: 'int64' });

/** For the document only. */
const documented = parameters.extend({
  limit: z.int().min(1).max(MAX_EVENTS).default(DEFAULT_EVENTS).describe('Alarms on a page'),
  from_ms: documentedTime.describe('Earliest `opened_ms`, inclusive'),
  to_ms: documentedTime.describe('Latest `opened_ms`, exclusive; later than `from_ms`'),
});

const alarmPage = z
  .object({
    items: z.array(alarm),
    next_cursor: z.string().describe('Cursor of the next page; empty on the last page'),
    resume_cursor: z.string().describe('Cursor of alarms that open later. Send it without `order`'),
  })
  .meta({ id: 'AlarmPage' });

export const listAlarmsRoute = (deps: Pick<Deps, 'alarmCursors' | 'db'>) =>
  route(
    {
      operation: 'listAlarms',
      method: 'get',
      path: '/v1/vision/alarms',
      summary: 'Lists alarms of your rules',
      description:
        'Returns alarms as they are now, in the order in which they opened. Closed alarms are retained for 30 days by ' +
        'default (`EVENT_DAYS` of the operator) after their last change. To follow alarms, read events.',
      tag: 'Alarms',
      audience: 'public',
      query,
      queryDoc: documented,
      responses: {
        200: {
          description: 'Page of alarms',
          schema: alarmPage,
          example: {
            items: [exampleReviewedAlarm],
            next_cursor: '',
            resume_cursor: 'AQAAAAAAAAAAKQAAAAAAAAApJzt6dWZpS0VtDR3dMFiJ0A',
          },
        },
      },
      refusalExamples: () => [
        refusalOf(() => parsePart(query, { limit: '0' }, 'query')),
        refusalOf(() => parsePart(query, { colour: 'red' }, 'query')),
        cursorInvalid(),
      ],
    },
    async ({ query: asked, caller }) => {
      const filter = {
        taskId: asked.task_id,
        clientRef: asked.client_ref,
        ruleId: asked.rule_id,
        state: asked.state,
        verdict: asked.verdict,
        fromMs: asked.from_ms,
        toMs: asked.to_ms,
      };
      const { limit, order } = asked;
      const page = await listAlarms(deps, caller.subject, { cursor: asked.cursor || undefined, limit, order, filter });
      return {
        status: 200,
        body: {
          items: page.items.map(alarmBody),
          next_cursor: page.nextCursor,
          resume_cursor: page.resumeCursor,
        },
      };
    },
  );
