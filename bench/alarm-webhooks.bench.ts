import { setTimeout as delay } from 'node:timers/promises';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { migrations } from '../services/notify/src/db/migrations/list.ts';
import { startReceiver } from '../services/notify/test/receiver.ts';
import type { Receiver } from '../services/notify/test/receiver.ts';
import { startNotify } from '../services/notify/test/support.ts';
import type { TestNotify } from '../services/notify/test/support.ts';
import { webhooksOf } from '../services/notify/test/webhook-support.ts';
import { frame, newTaskId, object, snapshot, startResults } from '../services/results/test/support.ts';
import type { Page, TestResults } from '../services/results/test/support.ts';
import { atMost, quantile } from './figures.ts';
import type { Figure } from './figures.ts';

export const name = 'alarm-webhooks';

const SAMPLES = Number(process.env['SAMPLES'] || 100);
const PAUSE_MS = 200;
const READ_INTERVAL_MS = 5;
const RULE = { name: 'Yard', when: { kind: 'object_present', labels: ['person'] }, min_interval_ms: 0 };

/** What one frame took, in milliseconds. */
interface Sample {
  toReadable: number;
  toWebhook: number;
}

/**
 * From the capture of a frame to the webhook of the alarm that it opens, by a rule without delay: through Kafka,
 * results, its outbox, Kafka, notify and its log to a receiver on this machine. Beside it a client reads pages of the
 * same task until the frame is there: the difference is what rules, event log and webhooks add, and the way into
 * results is in both. A result stream would flatter it, because its reader polls every 150 ms. Each sample is the first
 * frame of a task, so looking its rules up is in it; detection is not.
 */
export async function run() {
  const results = await startResults();
  const database = await createTestDatabase(migrations, { poolMax: 10 });
  // Of another service, its database and Kafka are all that is used.
  const notify = await startNotify({}, { database, kafka: results.kafka } as TestNotify);
  const receiver = await startReceiver();
  try {
    const samples = await measure(results, notify, receiver);
    const lag = samples.map(({ toReadable, toWebhook }) => toWebhook - toReadable);
    return {
      figures: [
        ...timesOf('webhook', samples, 'toWebhook'),
        ...timesOf('readable', samples, 'toReadable'),
        { name: 'webhook after readable, p50', value: quantile(lag, 0.5), unit: 'ms', target: atMost(400) },
        { name: 'webhook after readable, p99', value: quantile(lag, 0.99), unit: 'ms', target: atMost(2000) },
      ],
    };
  } finally {
    await notify.stop();
    await results.stop();
    await receiver.close();
    await database.drop();
  }
}

async function measure(results: TestResults, notify: TestNotify, receiver: Receiver): Promise<Sample[]> {
  const { subject, put } = webhooksOf(notify);
  await put('hook', { url: receiver.url, event_types: ['alarm.opened'] });
  await notify.call('PUT', '/v1/vision/alarm-rules/yard', subject, RULE);
  await until(async () => (await results.database.db('alarm_rules')).length === 1);
  const samples: Sample[] = [];
  for (let count = 0; count < SAMPLES; count += 1) {
    const taskId = newTaskId();
    await results.tell(snapshot(taskId, subject, { kind: 'stream' }));
    const frame_time_ms = Date.now();
    const [readableAt, webhookAt] = await Promise.all([
      firstRead(taskId, results, subject),
      webhookOf(taskId, receiver),
      results.deliver([frame(taskId, 0, { frame_time_ms, is_live: true, objects: [object(0.9)] })]),
    ]);
    samples.push({ toReadable: readableAt - frame_time_ms, toWebhook: webhookAt - frame_time_ms });
    await delay(PAUSE_MS);
  }
  return samples;
}

/** When a page of results has the first frame of this task. */
async function firstRead(taskId: string, results: TestResults, subject: string): Promise<number> {
  const hasFrame = async () => {
    const page = (await (await results.get(`/v1/vision/tasks/${taskId}/results`, subject)).json()) as Page;
    return page.items.length > 0;
  };
  await until(hasFrame, { intervalMs: READ_INTERVAL_MS });
  return Date.now();
}

/** When the first webhook of an alarm of this task arrives. */
function webhookOf(taskId: string, receiver: Receiver): Promise<number> {
  return new Promise((resolve) => {
    receiver.answer((res, { body }) => {
      const { data } = JSON.parse(body) as { data: { alarm: { task_id: string } } };
      if (data.alarm.task_id === taskId) resolve(Date.now());
      res.writeHead(204).end();
    });
  });
}

function timesOf(what: string, samples: Sample[], key: keyof Sample): Figure[] {
  const times = samples.map((sample) => sample[key]);
  return [
    { name: `capture to ${what}, p50`, value: quantile(times, 0.5), unit: 'ms' },
    { name: `capture to ${what}, p99`, value: quantile(times, 0.99), unit: 'ms' },
    { name: `capture to ${what}, longest`, value: Math.max(...times), unit: 'ms' },
  ];
}
