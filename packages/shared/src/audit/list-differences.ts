import type { Knex } from 'knex';
import { selectDifferences } from './differences.ts';
import { listBackendDifferences, listDifferences } from '@vision/contracts/audit';
import type { Difference } from '@vision/contracts/audit';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';

const AT_MOST = 1_000;

interface ListDeps {
  db: Knex;
  ageMs: number;
  /** What a neighbour found that operators cannot ask. */
  elsewhere?: () => Promise<Difference[]>;
  /** Who asks; other services unless said otherwise. */
  audience?: 'internal' | 'backend';
}

/** The route by which a service tells what its audits found; the operation is named after the service. */
export function listDifferencesRoute(
  operation: string,
  { db, ageMs, elsewhere, audience = 'internal' }: ListDeps,
): Route {
  return route(
    {
      ...(audience === 'backend' ? listBackendDifferences : listDifferences),
      operation,
      summary: 'Lists differences that the audits of this service found',
      audience,
      responses: { 200: { description: 'Oldest first', schema: listDifferences.reply } },
    },
    async () => {
      const [here, there] = await Promise.all([selectDifferences(db, ageMs, AT_MOST), elsewhere?.() ?? []]);
      return { status: 200, body: { items: [...here, ...there] } };
    },
  );
}
