import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { AT_ONCE } from '../src/domain/delivery.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';
import { newSubject, webhooksOf } from './webhook-support.ts';

let notify: TestNotify;
let receiver: Receiver;
/** At another address than the receiver, because requests to one host are rate limited. */
const hanging = createServer();
const sockets = new Set<Socket>();

beforeAll(async () => {
  notify = await startNotify({ WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8', WEBHOOK_TIMEOUT_MS: '120000' });
  receiver = await startReceiver();
  hanging.on('connection', (socket) => void sockets.add(socket.on('error', () => undefined)));
  hanging.listen(0, '127.0.0.2');
  await once(hanging, 'listening');
});
afterAll(async () => {
  await notify.stop();
  await receiver.close();
  for (const socket of sockets) socket.destroy();
  hanging.close();
  await once(hanging, 'close');
});

test('receivers that hang and could hold every slot leave one to a receiver that answers', async () => {
  const { db } = notify.database;
  const subjects = Array.from({ length: (2 * AT_ONCE.process) / AT_ONCE.subject }, newSubject);
  const url = `http://127.0.0.2:${(hanging.address() as AddressInfo).port}`;
  for (const subject of subjects) {
    await webhooksOf(notify, subject).put('one', { url });
    await webhooksOf(notify, subject).put('other', { url });
  }
  const events = subjects.flatMap((subject) => Array.from({ length: AT_ONCE.endpoint }, () => task({ subject })));
  await notify.publish(...events);
  const underWay = () => db('webhook_deliveries').where('attempt', '>', 0).whereIn('subject', subjects);
  await until(async () => (await underWay()).length > AT_ONCE.process / 2);
  const good = webhooksOf(notify);
  await good.put('good', { url: receiver.url });
  await notify.tell(task({ subject: good.subject }));
  await until(() => receiver.received.length === 1);
  expect(await underWay().whereRaw(`attempts <> '[]'`)).toEqual([]);
});
