import { reserveUnits } from '@vision/contracts/quota';
import { route } from '@vision/shared/http/route';
import { reserve } from '../use-cases/reserve.ts';
import type { Deps } from '../use-cases/deps.ts';

export const reserveRoute = (deps: Pick<Deps, 'db' | 'signals'>) =>
  route(
    {
      ...reserveUnits,
      operation: 'reserve',
      summary: "Reserves units of the subject's quota of today",
      description:
        'A repeat with the same id changes nothing. `conflict`: the key was used for the other kind, without a refund.',
      audience: 'internal',
      responses: { 200: { description: 'Decision of the ledger', schema: reserveUnits.reply } },
    },
    async ({ params, body, caller }) => ({
      status: 200,
      body: await reserve(deps, {
        id: params.reservation_id,
        subject: caller.subject,
        idempotencyKey: body.idempotency_key,
        kind: body.kind,
        units: body.units,
        limit: body.limit,
      }),
    }),
  );
