import { settleReservation } from '@vision/contracts/quota';
import { route } from '@vision/shared/http/route';
import { settle } from '../use-cases/close-reservation.ts';
import type { Deps } from '../use-cases/deps.ts';

export const settleRoute = (deps: Pick<Deps, 'db' | 'signals'>) =>
  route(
    {
      ...settleReservation,
      operation: 'settle',
      summary: 'Charges some units of a reservation and refunds the rest',
      audience: 'internal',
      responses: { 200: { description: 'Final charge of the reservation, in units', schema: settleReservation.reply } },
    },
    async ({ params, body, caller }) => ({
      status: 200,
      body: await settle(deps, { id: params.reservation_id, subject: caller.subject }, body.units),
    }),
  );
