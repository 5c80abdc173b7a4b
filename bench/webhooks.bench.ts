import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { until } from '@vision/shared/testing/until';
import { createPostWebhook } from '../services/notify/src/clients/post-webhook.ts';
import { parseWebhookUrl } from '../services/notify/src/domain/webhook-url.ts';
import { signedHeaders } from '../services/notify/src/use-cases/attempt-delivery.ts';
import { startNotify, task } from '../services/notify/test/support.ts';
import type { TestNotify } from '../services/notify/test/support.ts';
import { newSubject, webhooksOf } from '../services/notify/test/webhook-support.ts';
import { atLeast, atMost, quantile } from './figures.ts';

export const name = 'webhooks';

/** Endpoints at hosts of their own: a process begins 50 requests a second to one host. */
const ENDPOINTS = 40;
const EVENTS = 50;
const LANES = 64;
const HANGING = 50;
const SAMPLES = 100;
const ALLOWED = '127.0.0.0/8';

/**
 * Webhooks to receivers on this machine. How many a second are sent from the log, over a loop that does nothing but
 * sign and post the same bodies; and how long an event takes to a good endpoint while others hang to their limit of
 * 15 s, over the same alone.
 */
export async function run() {
  const notify = await startNotify({ WEBHOOK_ALLOWED_CIDRS: ALLOWED });
  const receiver = await startReceivers();
  try {
    const bare = await bareRate(receiver);
    const served = await servedRate(notify, receiver);
    const alone = await arrivalTimes(notify, receiver);
    await hang(notify, receiver);
    const beside = await arrivalTimes(notify, receiver);
    const [p95Alone, p95Beside] = [quantile(alone, 0.95), quantile(beside, 0.95)];
    return {
      figures: [
        { name: 'deliveries from the log', value: served, unit: 'a second' },
        { name: 'signed posts in a bare loop', value: bare, unit: 'a second' },
        { name: 'deliveries over bare posts', value: served / bare, unit: 'ratio', target: atLeast(0.5) },
        { name: 'event to a good endpoint alone, p95', value: p95Alone, unit: 'ms' },
        { name: `the same while ${HANGING} others hang, p95`, value: p95Beside, unit: 'ms' },
        { name: 'beside hanging ones over alone', value: p95Beside / p95Alone, unit: 'ratio', target: atMost(1.5) },
      ],
    };
  } finally {
    await receiver.close();
    await notify.stop();
  }
}

type Receivers = Awaited<ReturnType<typeof startReceivers>>;

/** One server for all addresses of loopback; what is sent to `/hang` is never answered. */
async function startReceivers() {
  const arrivals = { count: 0, first: 0, last: 0 };
  const waiting = new Map<string, () => void>();
  const server = createServer((req, res) => {
    req.resume().on('end', () => {
      if (req.url === '/hang') return;
      res.writeHead(204).end();
      arrivals.last = performance.now();
      if (arrivals.count === 0) arrivals.first = arrivals.last;
      arrivals.count += 1;
      waiting.get(req.url ?? '')?.();
    });
  });
  server.listen(0, '0.0.0.0');
  await until(() => server.listening);
  const { port } = server.address() as AddressInfo;
  return {
    arrivals,
    waiting,
    urlOf: (host: number, path = '/') => `http://127.0.${Math.floor(host / 250)}.${(host % 250) + 1}:${port}${path}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const rateOf = ({ count, first, last }: Receivers['arrivals']) => ((count - 1) * 1000) / (last - first);

const data = JSON.stringify({ task: task() });

async function bareRate({ arrivals, urlOf }: Receivers): Promise<number> {
  const policy = createAddressPolicy([ALLOWED]);
  const post = createPostWebhook({ policy, connectMs: 3_000, totalMs: 15_000 });
  const secrets = [`whsec_${Buffer.alloc(32, 7).toString('base64')}`];
  const url = parseWebhookUrl(urlOf(0), { policy, allowsHttp: true });
  let left = ENDPOINTS * EVENTS;
  const lane = async () => {
    for (; left > 0; left -= 1) {
      const headers = signedHeaders(secrets, { id: `event-${left}`, at: new Date(), body: data });
      await post({ url, headers, body: data, signal: new AbortController().signal });
    }
  };
  arrivals.count = 0;
  await Promise.all(Array.from({ length: LANES }, lane));
  return rateOf(arrivals);
}

async function servedRate(notify: TestNotify, { arrivals, urlOf }: Receivers): Promise<number> {
  const subjects = Array.from({ length: ENDPOINTS }, newSubject);
  for (const [index, subject] of subjects.entries())
    await webhooksOf(notify, subject).put('hook', { url: urlOf(index) });
  arrivals.count = 0;
  await log(notify, subjects, EVENTS);
  await until(() => arrivals.count >= ENDPOINTS * EVENTS);
  return rateOf(arrivals);
}

/** Events that are in the log at once, as after an outage. */
const log = ({ database }: TestNotify, subjects: string[], count: number) =>
  database.db.raw(
    `with log as (
       insert into subject_logs as l (subject, position) select unnest(:subjects::text[]), :count::bigint
       on conflict (subject) do update set position = l.position + :count
       returning subject, position)
     insert into events (subject, position, event_id, type, occurred_at, data)
     select subject, position - :count + n, gen_random_uuid(), 'task.running', now(), :data
       from log cross join generate_series(1, :count) as n`,
    { subjects, count, data },
  );

/** Milliseconds from a change of a task to its webhook, one after the other. */
async function arrivalTimes(notify: TestNotify, { waiting, urlOf }: Receivers): Promise<number[]> {
  const subject = newSubject();
  const path = `/${subject}`;
  await webhooksOf(notify, subject).put('good', { url: urlOf(ENDPOINTS, path) });
  const times: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const arrived = new Promise<void>((resolve) => void waiting.set(path, resolve));
    const from = performance.now();
    await notify.publish(task({ subject }));
    await arrived;
    times.push(performance.now() - from);
  }
  return times;
}

/** Each has as much to send as it may be sent at once, several times over. */
async function hang(notify: TestNotify, { urlOf }: Receivers): Promise<void> {
  const subjects = Array.from({ length: HANGING }, newSubject);
  for (const [index, subject] of subjects.entries())
    await webhooksOf(notify, subject).put('hook', { url: urlOf(1_000 + index, '/hang') });
  await log(notify, subjects, EVENTS);
  const { db } = notify.database;
  const underWay = `select from webhook_deliveries where state = 'pending' and attempt > 0 and subject = any(?)`;
  await until(async () => (await db.raw<{ rowCount: number }>(underWay, [subjects])).rowCount > HANGING);
}
