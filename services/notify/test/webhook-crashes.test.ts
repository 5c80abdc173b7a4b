import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@vision/shared/testing/ports';
import { startProcess } from '@vision/shared/testing/service-process';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { startNotify, task } from './support.ts';
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
  expect(names.sort()).toEqual(['notify.deliveries_made', 'notify.event_logged', 'notify.webhook_sent']);
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
