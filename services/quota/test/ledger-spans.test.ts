import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { recordSpans } from '@vision/shared/testing/recorded-spans';
import { reserveUnits } from '../src/db/ledger.ts';
import { newId, testLedger } from './support.ts';

const recorded = recordSpans();
let database: TestDatabase;
beforeAll(async () => {
  database = await testLedger();
});
afterAll(async () => {
  await database.drop();
  await recorded.stop();
});

test('the trace of one create request has the statement that takes its units, without their subject', async () => {
  const owner = { id: newId(), subject: randomUUID(), idempotencyKey: randomUUID() };
  await recorded.inRequest(() => reserveUnits(database.db, { ...owner, kind: 'video', units: 1, limit: 5 }));
  const span = recorded.spans().find(({ attributes }) => String(attributes['db.query.text']).includes('reserve_units'));
  expect(span?.name).toBe('postgres select');
  expect(span?.attributes).toMatchObject({ 'app.upstream.name': 'postgres', 'app.call.outcome': 'ok' });
  for (const secret of Object.values(owner)) expect(JSON.stringify(span?.attributes)).not.toContain(secret);
});
