import type { Knex } from 'knex';
import { positionEpochsMigration, positionsMigration } from '../../src/positions.ts';

/** A database in which a consumer keeps its positions and the versions that it has handled. */
export const effectsMigrations = [
  positionsMigration,
  positionEpochsMigration,
  {
    name: 'effects',
    up: (db: Knex) => db.raw('create table effects (version int not null)'),
    down: (db: Knex) => db.raw('drop table effects'),
  },
];
