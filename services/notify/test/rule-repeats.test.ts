import { expect, test } from '@jest/globals';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { startNotify } from './support.ts';

const metrics = testMetrics();
const rule = { name: 'Yard', when: { kind: 'object_present', labels: ['person'] } };

test('a process publishes rules that are due again, by a loop of its own that retention does not delay', async () => {
  const notify = await startNotify();
  const { db } = notify.database;
  const published = () => db('outbox').where({ topic: 'vision.rules.v1' });
  try {
    expect((await notify.call('PUT', '/v1/vision/alarm-rules/yard', 'subject-a', rule)).status).toBe(201);
    await notify.halt();
    await db('alarm_rules').update({ published_at: db.raw(`now() - interval '25 hours'`) });
    // Retention waits for this lock, and so do all later steps of its loop.
    const retentionBlock = await db.transaction();
    await retentionBlock.raw('set local idle_in_transaction_session_timeout = 0');
    await retentionBlock.raw('lock table events in exclusive mode');
    const next = await startNotify({}, notify);
    try {
      await until(async () => (await published()).length === 2);
      expect(await metrics.sumOf('vision.loop.pause', { loop: 'rule-repeats' })).toBeGreaterThan(0);
    } finally {
      await retentionBlock.rollback();
      await next.stop();
    }
  } finally {
    await notify.stop();
  }
});
