import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDnsServer } from '@vision/shared/testing/dns-server';
import { makeCertificates } from '@vision/shared/testing/made-certificates';
import { until } from '@vision/shared/testing/until';
import { refuse, startReceiver, status } from './receiver.ts';
import type { Answering, Receiver } from './receiver.ts';
import { startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';
import { isAll, webhooksOf } from './webhook-support.ts';
import type { Delivery } from './webhook-support.ts';

/** A host that no webhook may reach. */
let inner: Receiver;
let receiver: Receiver;
let notify: TestNotify;
/** For receivers that do not end an attempt themselves. */
let hasty: TestNotify;
let certificates: ReturnType<typeof makeCertificates>;
const dir = mkdtempSync(join(tmpdir(), 'vision-webhooks-'));
const dns = { answers: [] as string[], server: undefined as Awaited<ReturnType<typeof startDnsServer>> | undefined };

beforeAll(async () => {
  certificates = makeCertificates(dir);
  dns.server = await startDnsServer(({ type }) => (type === 'A' ? { addresses: dns.answers } : 'nothing'));
  const patience = { WEBHOOK_TIMEOUT_MS: '120000', WEBHOOK_CONNECT_MS: '120000' };
  notify = await startNotify({
    ...patience,
    WEBHOOK_DNS_SERVERS: dns.server.address,
    WEBHOOK_CA_FILE: certificates.ca,
  });
  hasty = await startNotify({ ...patience, WEBHOOK_TIMEOUT_MS: '4000' });
  [receiver, inner] = [await startReceiver(), await startReceiver()];
});
afterEach(() => {
  receiver.answer(status(204));
  receiver.received.length = 0;
});
afterAll(async () => {
  await Promise.all([notify.stop(), hasty.stop()]);
  await Promise.all([receiver.close(), inner.close(), dns.server?.close()]);
  rmSync(dir, { recursive: true });
});

const attempted =
  (count = 1) =>
  (all: Delivery[]) =>
    (all[0]?.attempts.length ?? 0) >= count;

/** Logs one event for an endpoint of a new subject; returns the delivery after the first attempt. */
async function sendTo(url: string, by = notify) {
  const hooks = webhooksOf(by);
  await hooks.put('hook', { url });
  await by.tell(task({ subject: hooks.subject }));
  const [delivery] = await hooks.until('hook', attempted());
  return { hooks, delivery };
}

const redirect: Answering = (res) => res.writeHead(302, { location: `${inner.url}/inner` }).end();
const drip: Answering = (res) => {
  const { socket } = res;
  socket?.write('HTTP/1.1 200 OK\r\n');
  const timer = setInterval(() => socket?.write('x-drip: 1\r\n'), 50);
  socket?.once('close', () => clearInterval(timer));
};
const continues: Answering = (res) => {
  const timer = setInterval(() => res.writeContinue(), 50);
  res.socket?.once('close', () => clearInterval(timer));
};
const hugeHead: Answering = (res) => res.writeHead(200, { 'x-head': 'x'.repeat(64 * 1024) }).end();
const noHttp: Answering = (res) => res.socket?.end('SSH-2.0-OpenSSH\r\n');
const upgrade: Answering = (res) =>
  res.socket?.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
const hangUp: Answering = (res) => res.destroy();
const silent: Answering = () => undefined;

test.each<[string, Answering, { outcome: string; status?: number }]>([
  ['redirects inward', redirect, { outcome: 'http_status', status: 302 }],
  ['drips its head', drip, { outcome: 'timeout' }],
  ['says 100 Continue without end', continues, { outcome: 'timeout' }],
  ['never answers', silent, { outcome: 'timeout' }],
  ['answers with a head of 64 KiB', hugeHead, { outcome: 'unreachable' }],
  ['does not speak HTTP', noHttp, { outcome: 'unreachable' }],
  ['switches protocols', upgrade, { outcome: 'unreachable' }],
  ['hangs up', hangUp, { outcome: 'unreachable' }],
  ['answers 500', status(500), { outcome: 'http_status', status: 500 }],
])('a receiver that %s has a failed attempt, and another one later', async (_, answering, outcome) => {
  receiver.answer(answering);
  const { hooks, delivery } = await sendTo(receiver.url, outcome.outcome === 'timeout' ? hasty : notify);
  expect(delivery).toMatchObject({ state: 'pending', next_at: expect.any(String) });
  expect(delivery?.attempts[0]).toMatchObject(outcome);
  expect(await hooks.get('hook')).toMatchObject({ enabled: true, failing_since: expect.any(String) });
  receiver.answer(status(200));
  await hooks.hurry();
  const [delivered] = await hooks.until('hook', isAll('delivered'));
  // On a busy machine the next attempt may have been made before.
  const outcomes = delivered?.attempts.map((one) => one.outcome) ?? [];
  expect(outcomes.at(-1)).toBe('delivered');
  expect(new Set(outcomes.slice(0, -1))).toEqual(new Set([outcome.outcome]));
  expect(await hooks.get('hook')).not.toHaveProperty('failing_since');
  expect(inner.received).toEqual([]);
});

test('an answer without end is cut off, and counts as the status that it begins with', async () => {
  let written = 0;
  let isClosed = false;
  receiver.answer((res) => {
    res.writeHead(200);
    const more = () => {
      while (!isClosed && res.write(Buffer.alloc(64 * 1024))) written += 64 * 1024;
    };
    res.on('drain', more).on('close', () => (isClosed = true));
    more();
  });
  const { delivery } = await sendTo(receiver.url);
  expect(delivery).toMatchObject({ state: 'delivered', attempts: [{ status: 200 }] });
  await until(() => isClosed);
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

test('410 disables the endpoint with an event, and its webhooks are held until it is enabled', async () => {
  const watching = await startReceiver();
  const hooks = webhooksOf(notify);
  receiver.answer(status(410));
  await hooks.put('gone', { url: receiver.url, event_types: ['task.running'] });
  await hooks.put('watching', { url: watching.url, event_types: ['webhook_endpoint.disabled'] });
  await notify.tell(task({ subject: hooks.subject }));
  await hooks.until('gone', isAll('held'));
  expect(await hooks.get('gone')).toMatchObject({ enabled: false, disabled_reason: 'gone' });
  await hooks.until('watching', isAll('delivered'));
  expect(JSON.parse(watching.received[0]?.body ?? '')).toMatchObject({
    type: 'webhook_endpoint.disabled',
    data: { endpoint_id: 'gone', reason: 'gone' },
  });
  receiver.answer(status(204));
  await hooks.put('gone', { url: receiver.url, event_types: ['task.running'] });
  await hooks.until('gone', isAll('delivered'));
  await watching.close();
});

test('an endpoint that fails for three days is disabled, one that answered meanwhile is not', async () => {
  receiver.answer(refuse);
  const { hooks } = await sendTo(receiver.url);
  const { db } = notify.database;
  const rows = () => db('webhook_endpoints').where({ subject: hooks.subject });
  const long = { failing_since: new Date(Date.now() - 73 * 3_600_000) };
  await rows().update({ ...long, failures: 8 });
  await hooks.hurry();
  await hooks.until('hook', attempted(2));
  expect(await hooks.get('hook')).toMatchObject({ enabled: true });
  receiver.answer(status(204));
  await hooks.hurry();
  await hooks.until('hook', isAll('delivered'));
  receiver.answer(refuse);
  const [delivered] = await hooks.deliveries('hook');
  await hooks.redeliver(delivered?.delivery_id ?? '');
  await hooks.until('hook', attempted(4));
  expect(await hooks.get('hook')).toMatchObject({ enabled: true });
  await rows().update({ ...long, failures: 9 });
  await hooks.hurry();
  await hooks.until('hook', isAll('held'));
  expect(await hooks.get('hook')).toMatchObject({ enabled: false, disabled_reason: 'failing' });
});

test('after a day of attempts a delivery has failed; recovery sends it again', async () => {
  receiver.answer(refuse);
  const { hooks } = await sendTo(receiver.url);
  await notify.database
    .db('webhook_deliveries')
    .where({ subject: hooks.subject })
    .update({ begun_at: new Date(Date.now() - 24 * 3_600_000), lease_until: new Date(0) });
  const [failed] = await hooks.until('hook', isAll('failed'));
  expect(failed).not.toHaveProperty('next_at');
  receiver.answer(status(204));
  expect((await hooks.send('POST', '/hook/recover', { since_ms: 0 })).body).toEqual({ deliveries: 1 });
  await hooks.until('hook', isAll('delivered'));
});

test.each([
  ['429', 429, '600', 600],
  ['503', 503, '600', 600],
  ['503 with more than an hour', 503, '90000', 3600],
])('Retry-After of %s is waited for', async (_, code, retryAfter, seconds) => {
  receiver.answer(status(code, { 'retry-after': retryAfter }));
  const { delivery } = await sendTo(receiver.url);
  const waits = Date.parse(delivery?.next_at ?? '') - Date.parse(delivery?.attempts[0]?.at ?? '');
  expect(waits / 1000).toBeGreaterThanOrEqual(seconds - 1);
  expect(waits / 1000).toBeLessThan(seconds + 120);
});

test('TLS is checked: an unknown authority and another name are refused, a known one is not', async () => {
  const secure = await startReceiver(certificates.server);
  const other = await startReceiver(makeCertificates(join(dir, 'other')).server);
  dns.answers = ['127.0.0.1'];
  const outcomes = [];
  for (const url of [secure.url, other.url, `https://hooks.example.org:${secure.port}/`])
    outcomes.push((await sendTo(url)).delivery?.attempts[0]?.outcome);
  expect(outcomes).toEqual(['delivered', 'tls_invalid', 'tls_invalid']);
  expect([secure.received.length, other.received.length]).toEqual([1, 0]);
  await Promise.all([secure.close(), other.close()]);
});

test('a name is resolved for each attempt, and no answer of the name server leads inward', async () => {
  dns.answers = ['127.0.0.1'];
  receiver.answer(refuse);
  const { hooks, delivery } = await sendTo(`http://hooks.example.org:${receiver.port}/x`);
  expect(delivery?.attempts).toMatchObject([{ outcome: 'http_status', status: 503 }]);
  expect(receiver.received[0]?.headers.host).toBe(`hooks.example.org:${receiver.port}`);
  // 127.0.0.2 reaches the same server, and is not among the allowed networks.
  for (const [turn, addresses] of [['127.0.0.2'], ['127.0.0.1', '127.0.0.2'], []].entries()) {
    dns.answers = addresses;
    await hooks.hurry();
    const [again] = await hooks.until('hook', attempted(turn + 2));
    expect(again?.attempts.at(-1)).toEqual({
      at: expect.any(String),
      outcome: 'unreachable',
      duration_ms: expect.any(Number),
    });
  }
  expect(receiver.received).toHaveLength(1);
});

test('an endpoint that hangs delays no other one, of its subject or of another', async () => {
  const slow = await startReceiver();
  slow.answer(silent);
  const [hooks, others] = [webhooksOf(notify), webhooksOf(notify)];
  await hooks.put('slow', { url: slow.url });
  await hooks.put('good', { url: receiver.url });
  await others.put('good', { url: receiver.url });
  await notify.tell(...Array.from({ length: 40 }, () => task({ subject: hooks.subject })));
  await notify.tell(task({ subject: others.subject }));
  await hooks.until('good', isAll('delivered', 40));
  await others.until('good', isAll('delivered'));
  const waiting = await hooks.deliveries('slow');
  expect(waiting.filter(({ attempts }) => attempts.length === 0).length).toBeGreaterThan(0);
  await hooks.send('DELETE', '/slow');
  await slow.close();
});

test('a recovery of more events than one request processes continues where it ended', async () => {
  const hooks = webhooksOf(notify);
  const { db } = notify.database;
  const from = Date.now() - 30_000;
  const events = 20_001;
  await db('subject_logs').insert({ subject: hooks.subject, position: from + events });
  await hooks.put('hook', { url: receiver.url, event_types: ['task.failed'] });
  await db.raw(
    `insert into events (subject, position, event_id, type, occurred_at, data)
     select :subject, cast(:from as bigint) + n, gen_random_uuid(), case when n = :events then 'task.failed' else 'task.running' end,
       now(), '{}' from generate_series(1, :events) as n`,
    { subject: hooks.subject, from, events },
  );
  const recover = async (since_ms: unknown) => (await hooks.send('POST', '/hook/recover', { since_ms })).body;
  const first = await recover(from);
  expect(first).toEqual({ deliveries: 0, continue_from_ms: expect.any(Number) });
  expect(await recover(first['continue_from_ms'])).toEqual({ deliveries: 1 });
});
