import { randomUUID } from 'node:crypto';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { defaultLimits } from '@vision/contracts/limits';
import { createLogger } from '@vision/shared/logger';
import { createQuotaClient } from '@vision/creation/quota-client';
import { startQuota } from '@vision/creation/testing/real-quota';
import type { RealQuota } from '@vision/creation/testing/real-quota';
import { testSigner } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { files, picture } from './support/form.ts';
import { createWorld, startReplica } from './support/start-images.ts';
import type { World } from './support/start-images.ts';

let world: World;
let quota: RealQuota;
beforeAll(async () => {
  world = await createWorld();
  quota = await startQuota({ kafka: world.kafka });
});
afterAll(async () => {
  await quota.stop();
  await world.close();
});

/** Proxy of two replicas: the first reserve goes to one of them, all other requests go to the other. */
async function startBalancer(first: string, others: string) {
  let reserves = 0;
  let answered = 0;
  const server = createServer((req, res) => {
    const isFirst = req.method === 'PUT' && ++reserves === 1;
    const url = (isFirst ? first : others) + (req.url ?? '');
    const onward = request(url, { method: req.method ?? 'GET', headers: req.headers, agent: false }, (reply) => {
      if (isFirst) answered += 1;
      res.writeHead(reply.statusCode ?? 0, reply.headers);
      reply.pipe(res);
    });
    onward.on('error', () => res.destroy());
    req.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The first reserve has been processed, although its client no longer waits for the answer. */
    isFirstAnswered: () => answered === 1,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

test('a reserve that a frozen quota replica grants long after the call was refused charges no unit', async () => {
  const sleeper = await quota.addReplica();
  const balancer = await startBalancer(sleeper.url, quota.url);
  const images = await startReplica(world, { QUOTA_URL: balancer.url, QUOTA_TIMEOUT_MS: '10000' });
  const subject = randomUUID();
  const timeoutMs = 100_000;
  const ledger = createQuotaClient({
    baseUrl: quota.url,
    signer: testSigner('images'),
    timeoutMs,
    logger: createLogger('test', 'silent'),
  });
  try {
    // Another call holds nine of ten units: the early check finds one left, but the call needs two.
    const other = `${randomUUID()}/1`;
    const held = { idempotency_key: randomUUID(), kind: 'image' as const, units: 9, limit: 10 };
    expect((await ledger.reserve(other, subject, held)).outcome).toBe('granted');
    sleeper.freeze();
    const caller = { subject, limits: { ...defaultLimits, images_per_day: 10 } };
    const refused = await images.detect(files(picture('a'), picture('b')), { caller });
    expect([refused.status, refused.body.code]).toEqual([429, 'OP-QUOTA-DAILY-EXHAUSTED']);
    await ledger.settle(other, subject, 0);
    sleeper.wake();
    await until(balancer.isFirstAnswered);
    expect(await quota.used(subject, 'image')).toBe(0);
    expect((await quota.reservations(subject)).filter(({ state }) => state === 'open')).toEqual([]);
  } finally {
    await images.stop();
    await balancer.close();
    await sleeper.stop();
  }
});
