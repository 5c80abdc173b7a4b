import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import { until } from '@vision/shared/testing/until';
import { files, picture } from './support/form.ts';
import { createWorld, startReplica } from './support/start-images.ts';
import type { World } from './support/start-images.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const HOLD = 4711;

/** Delays commits of stored calls until the returned function is called. */
async function holdCommits(): Promise<() => Promise<void>> {
  const { db } = world.database;
  await db.raw(
    `create function hold_commit() returns trigger language plpgsql as
       $$ begin perform pg_advisory_xact_lock_shared(${HOLD}); return null; end $$`,
  );
  await db.raw(
    `create constraint trigger hold_commit after insert on image_calls
       deferrable initially deferred for each row execute function hold_commit()`,
  );
  const holder = await db.transaction();
  await holder.raw(`select pg_advisory_xact_lock(${HOLD})`);
  return async () => {
    await holder.commit();
  };
}

const isWaiting = async (locktype: string) => {
  const { rows } = await world.database.db.raw<{ rows: unknown[] }>(
    `select 1 from pg_locks join pg_stat_activity using (pid)
      where locktype = ? and not granted and datname = current_database()`,
    [locktype],
  );
  return rows.length > 0;
};

test('a call whose connection is lost during its commit is answered with its result', async () => {
  const { hostname, port } = new URL(world.database.url);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port || 5432) });
  const url = new URL(world.database.url);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  const images = await startReplica(world, { DATABASE_URL: url.href });
  const release = await holdCommits();
  try {
    const call = images.detect(files(picture('slow')), { key: randomUUID() });
    await until(() => isWaiting('advisory'));
    proxy.set({ kind: 'reset' });
    await until(() => proxy.hits() > 0);
    proxy.set({ kind: 'none' });
    let isAnswered = false;
    void call.then(() => (isAnswered = true));
    await until(async () => isAnswered || (await isWaiting('transactionid')));
    await release();
    const { status, body } = await call;
    expect([status, body.results.map((entry) => entry.status)]).toEqual([201, ['succeeded']]);
    expect(world.quota.used()).toBe(1);
  } finally {
    await images.stop();
    await proxy.close();
  }
});
