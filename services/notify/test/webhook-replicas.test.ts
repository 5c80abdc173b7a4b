import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { inTransaction } from '@vision/shared/db/transaction';
import { until } from '@vision/shared/testing/until';
import { appendToLog } from '../src/db/event-log.ts';
import { taskEvent } from '../src/domain/task-event.ts';
import { MAX_PENDING } from '../src/domain/delivery.ts';
import { refuse, startReceiver, status } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';
import { isAll, webhooksOf } from './webhook-support.ts';

let first: TestNotify;
let receiver: Receiver;
beforeAll(async () => {
  first = await startNotify();
  receiver = await startReceiver();
});
afterEach(() => {
  receiver.answer(status(204));
  receiver.received.length = 0;
});
afterAll(async () => {
  await first.stop();
  await receiver.close();
});

test('two replicas send every event once while one of them is replaced again and again', async () => {
  const hooks = webhooksOf(first);
  await hooks.put('hook', { url: receiver.url });
  receiver.answer((res, _received, count) => res.writeHead(count % 5 === 0 ? 503 : 204).end());
  const tasks = Array.from({ length: 60 }, () => task({ subject: hooks.subject }));
  for (let turn = 0; turn < 3; turn += 1) {
    const second = await startNotify({}, first);
    await first.publish(...tasks.slice(turn * 20, turn * 20 + 20));
    await until(() => receiver.received.length > turn * 20 + 5);
    await second.stop();
  }
  await until(async () => {
    await hooks.hurry();
    return isAll('delivered', 60)(await hooks.deliveries('hook'));
  });
  const { items } = await first.page('?limit=500', hooks.subject);
  const sent = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
  expect([...sent].sort()).toEqual(items.map(({ event_id }) => event_id).sort());
});

test('events that another writer or release logs are sent too', async () => {
  const hooks = webhooksOf(first);
  await hooks.put('hook', { url: receiver.url });
  await log(hooks.subject, 1);
  await hooks.until('hook', isAll('delivered'));
});

test('skips an endpoint with too many pending deliveries, reports it once, and the cursor reads the rest', async () => {
  const hooks = webhooksOf(first);
  receiver.answer(refuse);
  await hooks.put('hook', { url: receiver.url });
  await log(hooks.subject, 1);
  await hooks.until('hook', (all) => all[0]?.attempts.length === 1);
  const { db } = first.database;
  const own = () => db('webhook_deliveries').where({ subject: hooks.subject });
  const [{ endpoint_key } = { endpoint_key: '' }] = await own().select<{ endpoint_key: string }[]>('endpoint_key');
  // The maximum number of pending deliveries; none of them is due.
  await db.raw(
    `insert into webhook_deliveries (delivery_id, endpoint_key, subject, position, event_id, type, lease_until)
     select gen_random_uuid(), :key, :subject, 0, gen_random_uuid(), 'task.running', now() + interval '1 hour'
       from generate_series(1, :count)`,
    { key: endpoint_key, subject: hooks.subject, count: MAX_PENDING - 1 },
  );
  const [second, third, fourth] = await log(hooks.subject, 3);
  const endpoint = () => db('webhook_endpoints').where({ endpoint_key }).first('position', 'missed_after');
  await until(async () => ((await endpoint()) as { position: number }).position === fourth);
  expect(await endpoint()).toMatchObject({ missed_after: (second ?? 0) - 1 });
  receiver.answer(status(204));
  await own().where('position', 0).delete();
  const told = await until(() => receiver.received.find(({ body }) => body.includes('events.missed')));
  const { data } = JSON.parse(told.body) as { data: { cursor: string } };
  expect(data).toMatchObject({ endpoint_id: 'hook', first_sequence: second, last_sequence: fourth });
  const { items } = await first.page(`?cursor=${data.cursor}`, hooks.subject);
  expect(items.map(({ sequence }) => sequence).slice(0, 3)).toEqual([second, third, fourth]);
  expect(items).toHaveLength(4);
  const [sixth] = await log(hooks.subject, 1);
  await until(() => receiver.received.some(({ body }) => body.includes(`"sequence":${sixth}`)));
  expect(receiver.received.filter(({ body }) => body.includes('events.missed'))).toHaveLength(1);
});

test('retention removes deliveries with their events', async () => {
  const hooks = webhooksOf(first);
  await hooks.put('hook', { url: receiver.url });
  await log(hooks.subject, 2);
  await hooks.until('hook', isAll('delivered', 2));
  const { db } = first.database;
  await db('webhook_deliveries')
    .where({ subject: hooks.subject })
    .update({ created_at: new Date(Date.now() - 31 * 86_400_000) });
  const answer = await first.call('POST', '/internal/v1/retention/run');
  expect(await answer.json()).toMatchObject({ deliveries: 2 });
  expect(await hooks.deliveries('hook')).toEqual([]);
});

test('data of an older key is re-encrypted, and the older key is no longer needed', async () => {
  const hooks = webhooksOf(first);
  const { secret } = await hooks.put('hook', { url: receiver.url });
  const next = `2:${Buffer.alloc(32, 8).toString('base64')}`;
  const rotated = await startNotify({ WEBHOOK_KEYS: `${next},${first.env['WEBHOOK_KEYS'] ?? ''}` }, first);
  const { db } = first.database;
  await until(async () => {
    const old = await db('webhook_endpoints').whereRaw('get_byte(url_box, 0) = 1 or get_byte(secret_box, 0) = 1');
    return old.length === 0;
  });
  await rotated.stop();
  const without = await startNotify({ WEBHOOK_KEYS: next }, first);
  expect(await webhooksOf(without, hooks.subject).get('hook')).toMatchObject({ url: `${receiver.url}/` });
  expect(secret).toBeDefined();
  await without.stop();
});

/** Logs events without any process of the service. @returns their numbers */
async function log(subject: string, count: number): Promise<(number | undefined)[]> {
  const numbers: (number | undefined)[] = [];
  for (let made = 0; made < count; made += 1) {
    const event = taskEvent(task({ subject }));
    if (event) numbers.push(await inTransaction(first.database.db, (tx) => appendToLog(tx, event)));
  }
  return numbers;
}
