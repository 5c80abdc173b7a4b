import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { readWebhookState } from '../src/db/webhook-deliveries.ts';
import { AT_ONCE } from '../src/domain/delivery.ts';
import { startReceiver, status } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';
import { webhooksOf } from './webhook-support.ts';

let notify: TestNotify;
let receiver: Receiver;
beforeAll(async () => {
  // Receivers that hang do so for the whole test.
  notify = await startNotify({ WEBHOOK_TIMEOUT_MS: '120000' });
  receiver = await startReceiver();
});
afterEach(() => {
  receiver.answer(status(204));
  receiver.received.length = 0;
});
afterAll(async () => {
  await notify.stop();
  await receiver.close();
});

const overdueS = async () => {
  const answer = await notify.call('GET', '/internal/v1/status', 'operator');
  return ((await answer.json()) as { webhooks: { overdue_s: number } }).webhooks.overdue_s;
};

test('deliveries that wait for a hanging receiver are not overdue; those that could be sent are', async () => {
  const hooks = webhooksOf(notify);
  await hooks.put('hangs', { url: receiver.url });
  receiver.answer(() => undefined);
  const tasks = Array.from({ length: AT_ONCE.endpoint + 4 }, () => task({ subject: hooks.subject }));
  await notify.tell(...tasks);
  const { db } = notify.database;
  const waiting = () => db('webhook_deliveries').where({ subject: hooks.subject, state: 'pending', attempt: 0 });
  await until(async () => receiver.received.length === AT_ONCE.endpoint && (await waiting()).length === 4);
  await waiting().update({ lease_until: new Date(Date.now() - 600_000) });
  expect(await overdueS()).toBe(0);
  // The same rows, for a process with free slots.
  expect((await readWebhookState(db, { endpoints: [], subjects: [] })).overdue_s).toBeGreaterThan(590);
  await hooks.put('hangs', { url: receiver.url, enabled: false });
  expect((await readWebhookState(db, { endpoints: [], subjects: [] })).overdue_s).toBe(0);
});
