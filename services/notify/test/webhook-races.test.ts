import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { until } from '@vision/shared/testing/until';
import { removeDeletedEndpoints } from '../src/use-cases/webhooks/remove-deleted-endpoints.ts';
import { startReceiver, status } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';
import { isAll, webhooksOf } from './webhook-support.ts';

const BATCH = 10;
let notify: TestNotify;
let receiver: Receiver;
let next: Receiver;
beforeAll(async () => {
  notify = await startNotify({ RETENTION_BATCH: String(BATCH), WEBHOOK_TIMEOUT_MS: '120000' });
  [receiver, next] = [await startReceiver(), await startReceiver()];
});
afterEach(() => {
  for (const one of [receiver, next]) {
    one.answer(status(204));
    one.received.length = 0;
  }
});
afterAll(async () => {
  await notify.stop();
  await Promise.all([receiver.close(), next.close()]);
});

/** Makes the receiver hold requests open, in their order of arrival. */
function holding(): ServerResponse[] {
  const held: ServerResponse[] = [];
  receiver.answer((res) => held.push(res));
  return held;
}

/** An endpoint of a new subject with one running webhook. */
async function underWay() {
  const held = holding();
  const hooks = webhooksOf(notify);
  await hooks.put('hook', { url: receiver.url });
  await notify.tell(task({ subject: hooks.subject }));
  const first = await until(() => held[0]);
  const [delivery] = await hooks.deliveries('hook');
  return { held, hooks, first, deliveryId: delivery?.delivery_id ?? '' };
}

test('an answer to an attempt does not affect a redelivery that was requested in the meantime', async () => {
  const { held, hooks, first, deliveryId } = await underWay();
  expect((await hooks.redeliver(deliveryId)).status).toBe(202);
  const second = await until(() => held[1]);
  first.writeHead(500).end();
  await until(async () => (await hooks.get('hook')).failing_since !== undefined);
  expect(await hooks.deliveries('hook')).toMatchObject([{ state: 'pending', attempts: [] }]);
  second.writeHead(204).end();
  const [delivered] = await hooks.until('hook', isAll('delivered'));
  expect(delivered?.attempts.map(({ outcome }) => outcome)).toEqual(['delivered']);
  expect(receiver.received).toHaveLength(2);
});

test('an answer of the old address does not affect the new one', async () => {
  const { hooks, first } = await underWay();
  await hooks.put('hook', { url: next.url });
  first.writeHead(410).end();
  const [delivered] = await hooks.until('hook', isAll('delivered'));
  expect(delivered?.attempts.map((one) => one.status)).toEqual([410, 204]);
  expect(await hooks.get('hook')).toMatchObject({ enabled: true });
  expect(await hooks.get('hook')).not.toHaveProperty('failing_since');
  expect([receiver.received.length, next.received.length]).toEqual([1, 1]);
});

test('the secret in force, sent once more by either way, does not end the overlap of a rotation', async () => {
  const hooks = webhooksOf(notify);
  const { secret: old = '' } = await hooks.put('hook', { url: receiver.url });
  const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
  const rotate = () => hooks.send('POST', '/hook/rotate-secret', { overlap_s: 3600, secret });
  const { body: rotated } = await rotate();
  await hooks.put('hook', { url: receiver.url, secret });
  expect((await rotate()).body).toEqual(rotated);
  await notify.tell(task({ subject: hooks.subject }));
  await hooks.until('hook', isAll('delivered'));
  const [{ body, headers } = { body: '', headers: {} }] = receiver.received;
  for (const one of [old, secret])
    expect(new Webhook(one).verify(body, headers as Record<string, string>)).toBeDefined();
});

/** Adds many deliveries of an endpoint that wait for their next attempt. */
async function addPending(subject: string, count: number) {
  const { db } = notify.database;
  await db.raw(
    `insert into webhook_deliveries (delivery_id, endpoint_key, subject, position, event_id, type, lease_until)
     select gen_random_uuid(), endpoint_key, subject, 0, gen_random_uuid(), 'task.running', now() + interval '1 hour'
       from webhook_endpoints cross join generate_series(1, :count) where subject = :subject`,
    { subject, count },
  );
}

test('a deleted endpoint is removed in steps, also while a webhook of it is running', async () => {
  const { hooks, first } = await underWay();
  const { db } = notify.database;
  await addPending(hooks.subject, 3 * BATCH);
  expect((await hooks.send('DELETE', '/hook')).status).toBe(204);
  await removeDeletedEndpoints({ db, settings: { eventDays: 30, retentionBatch: BATCH } });
  expect(await db('webhook_deliveries').where({ subject: hooks.subject })).toEqual([]);
  expect(await db('webhook_endpoints').where({ subject: hooks.subject })).toEqual([]);
  first.writeHead(500).end();
  // The name is free, and the old attempt does not affect the new endpoint.
  await hooks.put('hook', { url: next.url });
  await notify.tell(task({ subject: hooks.subject }));
  await hooks.until('hook', isAll('delivered'));
  expect(await hooks.get('hook')).not.toHaveProperty('failing_since');
  expect([receiver.received.length, next.received.length]).toEqual([1, 1]);
});

test('a deleted task is removed in steps, with all of its events and webhooks and none of others', async () => {
  const { hooks } = await underWay();
  const { db } = notify.database;
  const [deleted, other] = [task({ subject: hooks.subject }), task({ subject: hooks.subject })];
  await notify.tell(deleted, other);
  const { task_id: taskId } = deleted;
  await db.raw(
    `insert into events (subject, position, event_id, type, task_id, occurred_at, data)
     select :subject, n, gen_random_uuid(), 'alarm.updated', :taskId, now(), '{}' from generate_series(1, :count) as n`,
    { subject: hooks.subject, taskId, count: 3 * BATCH },
  );
  await addPending(hooks.subject, 2 * BATCH + 1);
  await db('webhook_deliveries').where({ subject: hooks.subject, position: 0 }).update({ task_id: taskId });
  await notify.tellDeleted(deleted);
  for (const table of ['events', 'webhook_deliveries']) expect(await db(table).where({ task_id: taskId })).toEqual([]);
  expect(await db('events').where({ task_id: other.task_id })).toHaveLength(1);
});
