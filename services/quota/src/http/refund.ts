import { closeReply } from '@vision/shared/contracts/quota';
import { route } from '@vision/shared/http/route';
import { closeOnce } from '../use-cases/close-reservation.ts';
import type { LedgerDeps } from '../use-cases/reserve.ts';
import { reservationParams } from './reserve.ts';

export const refundRoute = (deps: LedgerDeps) =>
  route(
    {
      operation: 'refund',
      method: 'post',
      path: '/internal/v1/reservations/{reservation_id}/refund',
      summary: 'Give all units of a reservation back to the day they were taken from',
      audience: 'internal',
      params: reservationParams,
      responses: { 200: { description: 'What the reservation charges in the end', schema: closeReply } },
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
