import { refundReservation } from '@vision/shared/contracts/quota';
import { route } from '@vision/shared/http/route';
import { closeOnce } from '../use-cases/close-reservation.ts';
import type { LedgerDeps } from '../use-cases/reserve.ts';

export const refundRoute = (deps: LedgerDeps) =>
  route(
    {
      ...refundReservation,
      operation: 'refund',
      summary: 'Give all units of a reservation back to the day they were taken from',
      audience: 'internal',
      responses: { 200: { description: 'What the reservation charges in the end', schema: refundReservation.reply } },
    },
    async ({ params, caller }) => ({
      status: 200,
      body: await closeOnce(
        deps,
        { id: params.reservation_id, subject: caller.subject },
        { state: 'refunded', units: 0 },
      ),
    }),
  );
