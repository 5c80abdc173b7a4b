import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createDueWorkPoller } from '@vision/shared/db/due-work';
import { createLogger } from '@vision/shared/logger';
import { createSteppedDatabase } from '@vision/shared/testing/stepped-clock';
import type { SteppedDatabase } from '@vision/shared/testing/stepped-clock';
import { until } from '@vision/shared/testing/until';
import { bringBackInstants } from '../src/db/bring-back-instants.ts';
import { migrations } from '../src/db/migrations/list.ts';

let database: SteppedDatabase;
beforeAll(async () => {
  database = await createSteppedDatabase(migrations, '1 hour');
});
afterAll(() => database.drop());

test('webhooks and brokers that were scheduled by a fast clock are due after the clock is corrected', async () => {
  const { db } = database;
  const endpoint = {
    endpoint_key: randomUUID(),
    subject: 'a',
    endpoint_id: 'all',
    host: 'a.example',
    is_enabled: true,
    position: 0,
  };
  const box = Buffer.alloc(1);
  await db('webhook_endpoints').insert({ ...endpoint, url_box: box, secret_box: box });
  const { endpoint_key } = endpoint;
  const delivery = { endpoint_key, subject: 'a', position: 1, type: 'alarm.opened', lease_until: db.raw('now()') };
  const [fresh, failed] = [randomUUID(), randomUUID()];
  await db('webhook_deliveries').insert([
    { ...delivery, delivery_id: fresh, event_id: fresh },
    { ...delivery, delivery_id: failed, event_id: failed, failures: 9 },
  ]);
  const broker = { broker_box: box, topic_prefix: 'a', next_at: db.raw('now()'), lease_until: db.raw('now()') };
  await db('mqtt_endpoints').insert({ ...endpoint, ...broker });
  let rounds = 0;
  const dueWork = createDueWorkPoller({
    db,
    logger: createLogger('notify-test', 'silent'),
    intervalMs: 20,
    dueWork: [{ isDue: 'true', wake: () => (rounds += 1) }],
    afterStepBack: () => bringBackInstants(db),
  });
  dueWork.start();
  const dueWithin = (table: string, columns: string, time: string) =>
    db(table).whereRaw(`${columns} <= now() + ?::interval`, [time]);
  await until(() => rounds > 1);
  await database.step('0');
  await until(async () => (await dueWithin('mqtt_endpoints', 'greatest(lease_until, next_at)', '5 min')).length === 1, {
    timeoutMs: 20_000,
  });
  const due = await dueWithin('webhook_deliveries', 'lease_until', '0').select<{ delivery_id: string }[]>(
    'delivery_id',
  );
  expect(due).toEqual([{ delivery_id: fresh }]);
  await dueWork.stop();
});
