import { z } from 'zod';
import { endedReservation } from '@vision/contracts/quota';
import { exampleTaskRecord } from '@vision/contracts/tasks';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../../use-cases/deps.ts';
import { endReservation } from '../../use-cases/end-reservation.ts';
import { actorOf, operatorHeaders, operatorInvalid, words } from './schemas.ts';

const end = z
  .strictObject({
    reservation_id: z.string().regex(/^[\w./:-]{1,200}$/),
    outcome: z.enum(['charge', 'refund']).describe('`charge` keeps the units, `refund` gives them back'),
    reason: words(1000).min(1),
  })
  .meta({ id: 'ReservationEnd' });

export const endReservationRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'endReservation',
      method: 'post',
      path: '/admin/v1/quota/reservations/end',
      summary: 'Ends an open reservation by hand',
      description: 'For a reservation whose task is lost. The audit log records the operator and the reason.',
      tag: 'Upkeep',
      audience: 'admin',
      headers: operatorHeaders,
      body: end,
      bodyExample: {
        reservation_id: exampleTaskRecord.reservation_id,
        outcome: 'refund',
        reason: 'its task was lost in the restore to 08:00',
      },
      responses: {
        200: {
          description: 'Units that it charges',
          schema: endedReservation,
          example: { reservation_id: exampleTaskRecord.reservation_id, subject: 'acme', units: 1, charged: 0 },
        },
      },
      refusalExamples: () => [
        operatorInvalid(),
        fail.notFound('There is no such open reservation.', 'reservation_not_open'),
        fail.sysUnavailable('quota_unavailable'),
      ],
    },
    async ({ body: { reservation_id: reservationId, ...body }, req }) => ({
      status: 200,
      body: await endReservation(deps, { reservationId, ...body, actor: actorOf(req) }),
    }),
  );
