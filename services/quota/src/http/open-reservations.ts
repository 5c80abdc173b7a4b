import { claimOpenReservations as claim, findOpenReservations as find } from '@vision/contracts/quota';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { claimOpenReservations, findOpenReservations } from '../use-cases/open-reservations.ts';

export const claimOpenReservationsRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      ...claim,
      operation: 'claimOpenReservations',
      summary: 'Claims open reservations that are due to be compared with the tasks or image calls they are held for',
      audience: 'internal',
      responses: { 200: { description: 'At most `limit` reservations; each is due again later', schema: claim.reply } },
    },
    async ({ body }) => ({ status: 200, body: { items: await claimOpenReservations(deps, body) } }),
  );

export const findOpenReservationsRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      ...find,
      operation: 'findOpenReservations',
      summary: 'Returns which of these reservations are open',
      audience: 'internal',
      responses: { 200: { description: 'Ids of the open ones', schema: find.reply } },
    },
    async ({ body }) => ({
      status: 200,
      body: { items: await findOpenReservations(deps, body.reservation_ids) },
    }),
  );
