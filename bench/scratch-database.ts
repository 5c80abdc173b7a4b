import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { createDb } from '@vision/shared/db/knex';
import { migrate } from '@vision/shared/db/migrate';
import type { Migration } from '@vision/shared/db/migrate';

export interface ScratchDatabase {
  db: Knex;
  url: string;
  drop: () => Promise<void>;
}

/** A database of its own on the server of `DATABASE_URL`, with the real schema; removed after the run. */
export async function scratchDatabase(migrations: Migration[], poolMax: number): Promise<ScratchDatabase> {
  const address = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL'];
  if (!address) throw new Error('DATABASE_URL is not set: run "make up" and source .local/env');
  const name = `vision_bench_${randomBytes(4).toString('hex')}`;
  const server = createDb({ url: address, poolMax: 1, applicationName: 'bench', statementTimeoutMs: 60_000 });
  await server.raw(`create database ${name}`);
  const url = new URL(address);
  url.pathname = `/${name}`;
  const db = createDb({ url: url.href, poolMax, applicationName: 'bench', statementTimeoutMs: 60_000 });
  await migrate(db, migrations);
  return {
    db,
    url: url.href,
    drop: async () => {
      await db.destroy();
      await server.raw(`drop database ${name} with (force)`);
      await server.destroy();
    },
  };
}
