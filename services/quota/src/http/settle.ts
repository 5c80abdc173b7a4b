import { closeReply, settleRequest } from '@vision/shared/contracts/quota';
import { route } from '@vision/shared/http/route';
import { closeOnce } from '../use-cases/close-reservation.ts';
import type { LedgerDeps } from '../use-cases/reserve.ts';
import { reservationParams } from './reserve.ts';

export const settleRoute = (deps: LedgerDeps) =>
  route(
    {
      operation: 'settle',
      method: 'post',
      path: '/internal/v1/reservations/{reservation_id}/settlement',
      summary: 'Keep some units of a reservation and give the rest back',
      audience: 'internal',
      params: reservationParams,
      body: settleRequest,
      responses: { 200: { description: 'What the reservation charges in the end', schema: closeReply } },
    },
    async ({ params, body, caller }) => ({
      status: 200,
      body: await closeOnce(
        deps,
        { id: params.reservation_id, subject: caller.subject },
        { state: 'settled', units: body.units },
      ),
    }),
  );
