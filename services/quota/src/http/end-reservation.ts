import { endReservation as question } from '@vision/contracts/quota';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { endReservation } from '../use-cases/end-reservation.ts';

export const endReservationRoute = (deps: Pick<Deps, 'db' | 'signals'>) =>
  route(
    {
      ...question,
      operation: 'endReservation',
      summary: 'Ends an open reservation by hand',
      audience: 'internal',
      responses: { 200: { description: 'Units that it charges', schema: question.reply } },
    },
    async ({ body }) => ({
      status: 200,
      body: await endReservation(deps, { id: body.reservation_id, outcome: body.outcome }),
    }),
  );
