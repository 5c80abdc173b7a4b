import { setTimeout as delay } from 'node:timers/promises';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { migrations } from '../services/notify/src/db/migrations/list.ts';
import { startReceiver } from '../services/notify/test/receiver.ts';
import { startNotify } from '../services/notify/test/support.ts';
import type { TestNotify } from '../services/notify/test/support.ts';
import { webhooksOf } from '../services/notify/test/webhook-support.ts';
import { frame, newTaskId, object, snapshot, startResults } from '../services/results/test/support.ts';
import type { TestResults } from '../services/results/test/support.ts';
import { quantile } from './figures.ts';

export const name = 'alarm-webhooks';

const SAMPLES = Number(process.env['SAMPLES'] || 100);
const PAUSE_MS = 200;
const RULE = { name: 'Yard', when: { kind: 'object_present', labels: ['person'] }, min_interval_ms: 0 };

/**
 * From the capture of a frame to the webhook of the alarm that it opens, by a rule without delay: through Kafka,
 * results, its outbox, Kafka, notify and its log to a receiver on this machine. Each sample is the first frame of a
 * task, so looking its rules up is in it; detection is not. The figures are absolute: those of the machine.
 */
export async function run() {
  const results = await startResults();
  const database = await createTestDatabase(migrations, { poolMax: 10 });
  // Of another service, its database and Kafka are all that is used.
  const notify = await startNotify({}, { database, kafka: results.kafka } as TestNotify);
  const receiver = await startReceiver();
  try {
    const ages = await agesOf(results, notify, receiver.url);
    return {
      figures: [
        { name: 'capture to webhook, p50', value: quantile(ages, 0.5), unit: 'ms' },
        { name: 'capture to webhook, p99', value: quantile(ages, 0.99), unit: 'ms' },
        { name: 'capture to webhook, longest', value: Math.max(...ages), unit: 'ms' },
      ],
    };
  } finally {
    await notify.stop();
    await results.stop();
    await receiver.close();
    await database.drop();
  }

  async function agesOf(from: TestResults, to: TestNotify, url: string): Promise<number[]> {
    const hooks = webhooksOf(to);
    await hooks.put('hook', { url, event_types: ['alarm.opened'] });
    await to.call('PUT', '/v1/vision/alarm-rules/yard', hooks.subject, RULE);
    await until(async () => (await from.database.db('alarm_rules')).length === 1);
    const capturedAt = new Map<string, number>();
    const ages: number[] = [];
    receiver.answer((res, { body }) => {
      res.writeHead(204).end();
      const { data } = JSON.parse(body) as { data: { alarm: { task_id: string } } };
      const atMs = capturedAt.get(data.alarm.task_id);
      if (atMs !== undefined && capturedAt.delete(data.alarm.task_id)) ages.push(Date.now() - atMs);
    });
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const taskId = newTaskId();
      await from.tell(snapshot(taskId, hooks.subject, { kind: 'stream' }));
      const frame_time_ms = Date.now();
      capturedAt.set(taskId, frame_time_ms);
      await from.deliver([frame(taskId, 0, { frame_time_ms, is_live: true, objects: [object(0.9)] })]);
      await until(() => !capturedAt.has(taskId));
      await delay(PAUSE_MS);
    }
    return ages;
  }
}
