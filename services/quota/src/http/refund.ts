import { refundReservation } from '@vision/contracts/quota';
import { route } from '@vision/shared/http/route';
import { refund } from '../use-cases/close-reservation.ts';
import type { Deps } from '../use-cases/deps.ts';

export const refundRoute = (deps: Pick<Deps, 'db' | 'signals'>) =>
  route(
    {
      ...refundReservation,
      operation: 'refund',
      summary: 'Refunds all units of a reservation, on the day they were charged to',
      audience: 'internal',
      responses: { 200: { description: 'Final charge of the reservation, in units', schema: refundReservation.reply } },
    },
    async ({ params, caller }) => ({
      status: 200,
      body: await refund(deps, { id: params.reservation_id, subject: caller.subject }),
    }),
  );
