import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { claimMqttEndpoints } from '../src/db/mqtt-leases.ts';
import { acknowledges, startFakeBroker } from './brokers.ts';
import { brokersOf } from './mqtt-support.ts';
import { startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';

const settings = { MQTT_ALLOW_PLAIN: 'true' };
let notify: TestNotify;
beforeAll(async () => {
  notify = await startNotify(settings);
});
afterAll(() => notify.stop());

test('is connected once over two replicas, and the other one takes over', async () => {
  const own = brokersOf(notify);
  const open = await startFakeBroker(acknowledges);
  const first = await startNotify(settings, notify);
  // Either of them may log these.
  const publish = (count: number) =>
    notify.publish(...Array.from({ length: count }, () => task({ subject: own.subject })));
  try {
    await own.put({ url: `mqtt://127.0.0.1:${open.port}` });
    await own.until(({ connected_since: since }) => since !== undefined);
    await publish(5);
    const published = () => open.received.filter(({ cmd }) => cmd === 'publish').length;
    await until(() => published() === 5);
    // No process may claim it, and the connected one renews its lease before it expires.
    const { db } = notify.database;
    const others = await claimMqttEndpoints(db, { limit: 500, leaseMs: 1 });
    expect(others.map(({ subject }) => subject)).not.toContain(own.subject);
    const mine = () => db('mqtt_endpoints').where({ subject: own.subject });
    await mine().update({ lease_until: new Date(Date.now() + 8_000) });
    await until(async () => {
      const { lease_until: leaseUntil } = await mine().first<{ lease_until: Date }>('lease_until');
      return leaseUntil.getTime() > Date.now() + 15_000;
    });
    expect(open.connections()).toBe(1);
    // Either of them may have it: after this only one process remains.
    await first.halt();
    await publish(5);
    await until(() => published() === 10);
    await own.until(({ connected_since: since }) => since !== undefined);
  } finally {
    await first.stop();
    await open.close();
  }
});
