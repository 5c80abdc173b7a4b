import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { freePort } from '@vision/shared/testing/ports';
import { startProcess, untilReady } from '@vision/shared/testing/service-process';
import type { RunningProcess } from '@vision/shared/testing/service-process';
import { until } from '@vision/shared/testing/until';
import { startReceiver, status } from './receiver.ts';
import type { Answering, Receiver } from './receiver.ts';
import { startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';
import { webhooksOf } from './webhook-support.ts';

let notify: TestNotify;
let receiver: Receiver;
beforeAll(async () => {
  notify = await startNotify();
  receiver = await startReceiver();
});
afterAll(async () => {
  await notify.stop();
  await receiver.close();
});

/** Faults of a receiver instead of accepting a webhook. */
const faults: Record<string, Answering> = {
  'answers 503 and asks for time': status(503, { 'retry-after': '1' }),
  'hangs up': (res) => res.destroy(),
  'does not speak HTTP': (res) => void res.socket?.end('SSH-2.0-OpenSSH\r\n'),
  'takes the webhook and hangs up': (res) => void res.writeHead(204).socket?.destroy(),
  redirects: status(302, { location: 'http://127.0.0.1:1/' }),
  'answers 500': status(500),
  'says nothing': () => undefined,
};

/** Each process is killed after this number of faults. */
const FAULTS_OF_A_PROCESS = 3;

/** Another replica, in a process of its own that can be killed. */
async function replica(): Promise<RunningProcess> {
  const [PORT, HEALTH_PORT] = [await freePort(), await freePort()];
  const running = startProcess('notify', {
    ...notify.env,
    PORT: String(PORT),
    HEALTH_PORT: String(HEALTH_PORT),
    WEBHOOK_TIMEOUT_MS: '2000',
    NODE_ENV: 'test',
  });
  await untilReady(running, HEALTH_PORT);
  return running;
}

/** The database ends all its connections, also those in a transaction. */
const cutConnections = () =>
  notify.database.db.raw(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );

test('every event arrives, unaltered, during faults of receiver, process and database', async () => {
  const hooks = webhooksOf(notify);
  const { secret = '' } = await hooks.put('hook', { url: receiver.url });
  await notify.halt();
  let count = 0;
  const all = Object.values(faults);
  for (let from = 0; from < all.length; from += FAULTS_OF_A_PROCESS) {
    const running = await replica();
    for (const answering of all.slice(from, from + FAULTS_OF_A_PROCESS)) {
      const before = receiver.received.length;
      receiver.answer(answering);
      await notify.publish(...Array.from({ length: 5 }, () => task({ subject: hooks.subject })));
      await until(() => receiver.received.length > before);
      await cutConnections();
      count += 5;
    }
    await notify.publish(task({ subject: hooks.subject }));
    count += 1;
    running.child.kill('SIGKILL');
    await running.ended;
  }
  receiver.answer(status(204));
  const last = await startNotify({}, notify);
  const own = webhooksOf(last, hooks.subject);
  await until(async () => {
    await own.hurry();
    const { items } = await last.page('?limit=500', hooks.subject);
    const delivered = await own.deliveries('hook', '?state=delivered&limit=500');
    return items.length === count && delivered.length === count;
  });
  const { items } = await last.page('?limit=500', hooks.subject);
  const arrived = receiver.received.map(({ body, headers }) => ({
    id: String(headers['webhook-id']),
    event: new Webhook(secret).verify(body, headers as Record<string, string>),
  }));
  expect(new Set(arrived.map(({ id }) => id))).toEqual(new Set(items.map(({ event_id }) => event_id)));
  // The same event has the same body in every attempt: that of the log.
  const byId = new Map(items.map((item) => [item.event_id, item]));
  for (const { id, event } of arrived) expect(event).toEqual(byId.get(id));
  await last.stop();
});
