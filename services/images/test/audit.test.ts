import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startQuota } from '@vision/creation/testing/real-quota';
import type { RealQuota } from '@vision/creation/testing/real-quota';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { createWorld, startReplica } from './support/start-images.ts';
import type { World } from './support/start-images.ts';

const metrics = testMetrics();
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

test('reports units that no image call holds until they are refunded, and no units of a call in progress', async () => {
  const images = await startReplica(world, { QUOTA_URL: quota.url, AUDIT_INTERVAL_MS: '100', AUDIT_AGE_MS: '3000' });
  const taskId = randomUUID();
  const [lost, working] = [`${randomUUID()}/1`, `${taskId}/1`];
  const subject = randomUUID();
  const { db } = quota.database;
  const gauge = () => metrics.sumOf('vision.audit.differences', { kind: 'open_reservation' });
  const shown = () => world.database.db('audit_differences').pluck<string[]>('id');
  try {
    await world.database.db('idempotency_keys').insert({
      subject,
      key: randomUUID(),
      task_id: taskId,
      request_id: randomUUID(),
      fingerprint: 'x',
      scene_code: 'fire_smoke',
      images_total: 1,
      reservation_id: working,
      state: 'working',
      attempt: 1,
      lease_until: new Date(Date.now() + 600_000),
      created_at: new Date(),
    });
    for (const one of [lost, working])
      await db.raw(`select reserve_units(?, ?, ?, 'image', 1, 100)`, [one, subject, randomUUID()]);
    await db('reservations').update({ ask_at: db.fn.now() });
    await until(async () => (await gauge()) === 1);
    expect(await shown()).toEqual([lost]);
    await db.raw(`select close_reservation(?, ?, 'refunded', 0)`, [lost, subject]);
    await until(async () => (await gauge()) === 0);
    expect(await shown()).toEqual([]);
  } finally {
    await images.stop();
  }
});
