import type { Knex } from 'knex';
import { ping } from '@vision/contracts/status';
import { schemaIsCurrent } from '../db/migrate.ts';
import type { Migration } from '../db/migrate.ts';
import { freeConnections } from '../db/pool-signals.ts';
import type { ServiceClient } from '../http/service-client.ts';
import type { Check } from './status.ts';

/**
 * Every free connection of the pool that requests use answers (one is opened when none is free), and the database has
 * every migration of this release. A new connection alone would hide that the open ones are dead.
 */
export const askDatabase =
  (db: Knex, migrations: Migration[]): Check =>
  async () => {
    await Promise.all(Array.from({ length: Math.max(1, freeConnections(db)) }, () => db.raw('select 1')));
    if (!(await schemaIsCurrent(db, migrations))) throw new Error('migrations of this release are not applied');
  };

/** Another service answers and accepts the key of this one. */
export const askService =
  ({ ask }: ServiceClient): Check =>
  () =>
    ask(ping, { subject: 'operator' });
