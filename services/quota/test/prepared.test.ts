import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createDb } from '@vision/shared/db/knex';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { queryPrepared } from '../src/db/prepared.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase([]);
});
afterAll(async () => {
  await database.drop();
});

/** Names of the statements that the only connection of a pool has prepared after one. */
async function preparedBy(sessionUrl: string | undefined): Promise<string[]> {
  const db = createDb({ url: database.url, sessionUrl, poolMax: 1, applicationName: 'test' });
  try {
    expect(await queryPrepared(db, { name: 'one', text: 'select $1::int as n', values: [7] })).toEqual([{ n: 7 }]);
    return await db('pg_prepared_statements').pluck<string[]>('name');
  } finally {
    await db.destroy();
  }
}

test('a statement is prepared once for each connection', async () => {
  expect(await preparedBy(undefined)).toEqual(['one']);
});

test('behind a pooler that hands out connections for one transaction nothing is left prepared', async () => {
  expect(await preparedBy(database.url)).toEqual([]);
});
