import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@vision/shared/testing/ports';
import { startProcess } from '@vision/shared/testing/service-process';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { until } from '@vision/shared/testing/until';
import { alarm, startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';
import { isAll, webhooksOf } from './webhook-support.ts';

const root = join(import.meta.dirname, '..');
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

test('every step of the sources has a case here', () => {
  const texts = globSync('src/**/*.ts', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
  const names = texts.flatMap((text) => [...text.matchAll(/crashPoint\('([^']+)'\)/g)].map((match) => match[1]));
  const alarms = ['notify.alarm_logged', 'notify.rule_stored'];
  expect(names.sort()).toEqual(
    [...alarms, 'notify.deliveries_made', 'notify.event_logged', 'notify.webhook_sent'].sort(),
  );
});

test.each([
  ['notify.event_logged', 0],
  ['notify.deliveries_made', 0],
  ['notify.webhook_sent', 1],
])('killed at %s: another process sends the webhook, under the same id', async (step, sentBefore) => {
  receiver.received.length = 0;
  const notify = await startNotify();
  const hooks = webhooksOf(notify);
  await hooks.put('hook', { url: receiver.url });
  await notify.halt();
  const ports = { PORT: String(await freePort()), HEALTH_PORT: String(await freePort()) };
  const doomed = startProcess('notify', { ...notify.env, ...ports, NODE_ENV: 'test', CRASH_AT: step });
  const one = task({ subject: hooks.subject });
  await notify.publish(one);
  expect(await doomed.ended).toBe('SIGKILL');
  expect(receiver.received).toHaveLength(sentBefore);
  await hooks.hurry();
  const next = await startNotify({}, notify);
  await webhooksOf(next, hooks.subject).until('hook', isAll('delivered'));
  expect(receiver.received).toHaveLength(sentBefore + 1);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  await next.stop();
  await notify.stop();
});

const doomedAt = async (notify: TestNotify, step: string) => {
  const ports = { PORT: String(await freePort()), HEALTH_PORT: String(await freePort()) };
  return { ports, ...startProcess('notify', { ...notify.env, ...ports, NODE_ENV: 'test', CRASH_AT: step }) };
};

test('killed at notify.alarm_logged: another process logs the alarm, once', async () => {
  const notify = await startNotify();
  await notify.halt();
  const doomed = await doomedAt(notify, 'notify.alarm_logged');
  const one = alarm();
  await notify.publishAlarms(one);
  expect(await doomed.ended).toBe('SIGKILL');
  const next = await startNotify({}, notify);
  await until(async () => (await next.page('', one.subject)).items.length > 0);
  expect((await next.page('', one.subject)).items.map(({ type }) => type)).toEqual(['alarm.opened']);
  await next.stop();
  await notify.stop();
});

test('killed at notify.rule_stored: the rule is not there, and a repeat stores and publishes it', async () => {
  const notify = await startNotify();
  await notify.halt();
  const doomed = await doomedAt(notify, 'notify.rule_stored');
  const rule = { name: 'yard', when: { kind: 'object_present', labels: ['person'] } };
  const url = `http://127.0.0.1:${doomed.ports.PORT}/v1/vision/alarm-rules/yard`;
  const headers = { ...(await notify.headersOf('subject-a')), 'content-type': 'application/json' };
  const put = async () => fetch(url, { method: 'PUT', headers, body: JSON.stringify(rule) }).catch(() => undefined);
  await until(async () => {
    await put();
    return doomed.child.signalCode === 'SIGKILL';
  });
  const next = await startNotify({}, notify);
  expect((await next.call('GET', '/v1/vision/alarm-rules/yard')).status).toBe(404);
  expect((await next.call('PUT', '/v1/vision/alarm-rules/yard', 'subject-a', rule)).status).toBe(201);
  const published = () => notify.database.db('outbox').whereNotNull('published_at');
  await until(async () => (await published()).length === 1);
  await next.stop();
  await notify.stop();
});
