import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { until } from '@vision/shared/testing/until';
import { refuse, startReceiver, status } from './receiver.ts';
import type { Received, Receiver } from './receiver.ts';
import { startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';
import { isAll, newSubject, webhooksOf } from './webhook-support.ts';

let notify: TestNotify;
let receiver: Receiver;
beforeAll(async () => {
  notify = await startNotify();
  receiver = await startReceiver();
});
afterEach(() => {
  receiver.answer(status(204));
  receiver.received.length = 0;
});
afterAll(async () => {
  await notify.stop();
  await receiver.close();
});

const hook = () => `${receiver.url}/hook?token=canary`;
const verified = ({ body, headers }: Received, secret: string) =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as Record<string, unknown>;

test('sends each event once, signed, with the body that pages show and nothing of our traces', async () => {
  const hooks = webhooksOf(notify);
  const { secret = '' } = await hooks.put('one', { url: hook() });
  const running = task({ subject: hooks.subject });
  await notify.tell(running, task({ ...running, version: 2, status: 'failed', reason: 'timeout' }));
  await hooks.until('one', isAll('delivered', 2));
  const { items } = await notify.page('', hooks.subject);
  const bodies = receiver.received.map((one) => verified(one, secret));
  expect(bodies.toSorted((a, b) => Number(a['sequence']) - Number(b['sequence']))).toEqual(items);
  for (const { headers, path } of receiver.received) {
    expect(path).toBe('/hook?token=canary');
    expect(items.map(({ event_id }) => event_id)).toContain(headers['webhook-id']);
    expect(Object.keys(headers).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
    ]);
  }
});

test('shows the secret that it made once; PUT is repeatable, and a secret of the caller is never shown', async () => {
  const hooks = webhooksOf(notify);
  const body = { url: hook(), event_types: ['task.failed'] };
  const made = await hooks.send('PUT', '/gate', body);
  expect(made).toMatchObject({ status: 201, body: { secret: expect.stringMatching(/^whsec_/), enabled: true } });
  const again = await hooks.send('PUT', '/gate', body);
  expect([again.status, again.body['secret']]).toEqual([200, undefined]);
  const own = { ...body, secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}` };
  expect((await hooks.send('PUT', '/own', own)).body).not.toHaveProperty('secret');
  const listed = await hooks.send('GET', '');
  expect(listed.body).toEqual({ items: [await hooks.get('gate'), await hooks.get('own')] });
  expect(JSON.stringify(listed.body)).not.toContain('whsec_');
});

test('address and secrets are not in the database as text', async () => {
  const hooks = webhooksOf(notify);
  await hooks.put('sealed', { url: hook(), secret: `whsec_${Buffer.alloc(32, 2).toString('base64')}` });
  const rows: unknown[] = await notify.database.db('webhook_endpoints').where({ subject: hooks.subject });
  const text = JSON.stringify(rows, (_, value: unknown) =>
    value && typeof value === 'object' && 'data' in value
      ? Buffer.from(value.data as number[]).toString('latin1')
      : value,
  );
  expect(text).toContain('127.0.0.1');
  for (const secret of ['canary', 'hook', Buffer.alloc(32, 2).toString('base64')]) expect(text).not.toContain(secret);
});

test('sends only the types of the endpoint, and only what was logged after it was made', async () => {
  const hooks = webhooksOf(notify);
  const running = task({ subject: hooks.subject });
  await notify.tell(running);
  await hooks.put('some', { url: hook(), event_types: ['task.failed', 'task.running'] });
  await notify.tell(task({ ...running, version: 2, status: 'resolving' }));
  await notify.tell(task({ ...running, version: 3, status: 'failed' }));
  await hooks.until('some', isAll('delivered'));
  expect(receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(['task.failed']);
});

test('during a rotation each webhook is signed with both secrets, after it with the new one alone', async () => {
  const hooks = webhooksOf(notify);
  const { secret: old = '' } = await hooks.put('turn', { url: hook() });
  const { body } = await hooks.send('POST', '/turn/rotate-secret', { overlap_s: 3600 });
  const { secret: next = '' } = body as { secret?: string };
  await notify.tell(task({ subject: hooks.subject }));
  await hooks.until('turn', isAll('delivered'));
  for (const secret of [old, next]) expect(verified(receiver.received[0] as Received, secret)).toBeDefined();
  const ended = { old_secret_until: new Date(0) };
  await notify.database.db('webhook_endpoints').where({ subject: hooks.subject }).update(ended);
  await notify.tell(task({ subject: hooks.subject }));
  await hooks.until('turn', isAll('delivered', 2));
  expect(verified(receiver.received[1] as Received, next)).toBeDefined();
  expect(() => verified(receiver.received[1] as Received, old)).toThrow();
});

test('rotating to the secret in force changes nothing, so a caller may repeat it', async () => {
  const hooks = webhooksOf(notify);
  await hooks.put('turn', { url: hook() });
  const asked = { overlap_s: 60, secret: `whsec_${Buffer.alloc(32, 3).toString('base64')}` };
  const first = await hooks.send('POST', '/turn/rotate-secret', asked);
  expect(first).toMatchObject({ status: 200, body: { old_secret_expires_at: expect.any(String) } });
  expect(await hooks.send('POST', '/turn/rotate-secret', asked)).toEqual(first);
});

test('a test goes to its endpoint only, with any types; the seventh in a minute is refused', async () => {
  const hooks = webhooksOf(notify);
  await hooks.put('one', { url: hook(), event_types: ['task.failed'] });
  await hooks.put('other', { url: hook() });
  const answer = await hooks.send('POST', '/one/test');
  expect(answer).toMatchObject({ status: 202, body: { delivery_id: expect.any(String) } });
  const [delivered] = await hooks.until('one', isAll('delivered'));
  expect(delivered).toMatchObject({ ...answer.body, type: 'webhook_endpoint.test' });
  for (let sent = 1; sent < 6; sent += 1) expect((await hooks.send('POST', '/one/test')).status).toBe(202);
  expect(await hooks.send('POST', '/one/test')).toMatchObject({
    status: 429,
    body: { details: { reason: 'webhook_test_rate' } },
  });
  await hooks.until('one', isAll('delivered', 6));
  expect(await hooks.deliveries('other')).toEqual([]);
});

test('deliveries are listed newest first, by state, in pages that end', async () => {
  const hooks = webhooksOf(notify);
  await hooks.put('list', { url: hook() });
  await notify.tell(...Array.from({ length: 5 }, () => task({ subject: hooks.subject })));
  const all = await hooks.until('list', isAll('delivered', 5));
  const first = await hooks.send('GET', '/list/deliveries?limit=3&state=delivered');
  const second = await hooks.send('GET', `/list/deliveries?limit=3&cursor=${String(first.body['next_cursor'])}`);
  expect([...(first.body['items'] as unknown[]), ...(second.body['items'] as unknown[])]).toEqual(all);
  expect(second.body['next_cursor']).toBe('');
  expect(await hooks.deliveries('list', '?state=failed')).toEqual([]);
  const other = webhooksOf(notify);
  await other.put('list', { url: hook() });
  expect(await other.send('GET', `/list/deliveries?cursor=${String(first.body['next_cursor'])}`)).toMatchObject({
    status: 400,
    body: { details: { reason: 'cursor_invalid' } },
  });
});

test('a delivery is sent again under the id of its event; that of another subject is not there', async () => {
  const hooks = webhooksOf(notify);
  await hooks.put('again', { url: hook() });
  await notify.tell(task({ subject: hooks.subject }));
  const [delivery] = await hooks.until('again', isAll('delivered'));
  const id = delivery?.delivery_id ?? '';
  expect((await webhooksOf(notify).redeliver(id)).status).toBe(404);
  expect((await hooks.redeliver(id)).status).toBe(202);
  await until(() => receiver.received.length === 2);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([delivery?.event_id]));
});

test('a disabled endpoint gets nothing; recovery sends events that were logged in the meantime, once', async () => {
  const hooks = webhooksOf(notify);
  await hooks.put('off', { url: hook() });
  const since_ms = Date.now() - 60_000;
  await hooks.put('off', { url: hook(), enabled: false });
  const tasks = [task({ subject: hooks.subject }), task({ subject: hooks.subject })];
  await notify.tell(...tasks);
  const disabled = { status: 409, body: { details: { reason: 'endpoint_disabled' } } };
  expect(await hooks.send('POST', '/off/recover', { since_ms })).toMatchObject(disabled);
  expect(await hooks.send('POST', '/off/test')).toMatchObject(disabled);
  expect(await hooks.get('off')).toMatchObject({ enabled: false, disabled_reason: 'requested' });
  await hooks.put('off', { url: hook() });
  expect(await hooks.send('POST', '/off/recover', { since_ms })).toMatchObject({
    status: 202,
    body: { deliveries: 2 },
  });
  await hooks.until('off', isAll('delivered', 2));
  expect((await hooks.send('POST', '/off/recover', { since_ms })).body).toEqual({ deliveries: 0 });
  expect(receiver.received).toHaveLength(2);
});

test('drops pending deliveries of a deleted task', async () => {
  const hooks = webhooksOf(notify);
  receiver.answer(refuse);
  await hooks.put('drop', { url: hook() });
  const [deleted, other] = [task({ subject: hooks.subject }), task({ subject: hooks.subject })];
  await notify.tell(deleted, other);
  await hooks.until('drop', (all) => all.length === 2 && all.every(({ attempts }) => attempts.length === 1));
  await notify.tellDeleted(deleted);
  const events = await notify.page('', hooks.subject);
  const left = await hooks.deliveries('drop');
  expect(left.map(({ event_id }) => event_id)).toEqual(events.items.map(({ event_id }) => event_id));
  receiver.answer(status(204));
  receiver.received.length = 0;
  await hooks.hurry();
  await hooks.until('drop', isAll('delivered'));
  expect(receiver.received.map(({ body }) => body)).toEqual([expect.stringContaining(other.task_id)]);
});

test('deleting an endpoint ends its deliveries; a new one of the same name starts empty', async () => {
  const hooks = webhooksOf(notify);
  receiver.answer(refuse);
  await hooks.put('gone', { url: hook() });
  await notify.tell(task({ subject: hooks.subject }));
  await hooks.until('gone', (all) => all[0]?.attempts.length === 1);
  for (let time = 0; time < 2; time += 1) expect((await hooks.send('DELETE', '/gone')).status).toBe(204);
  expect(await hooks.send('GET', '/gone')).toMatchObject({
    status: 404,
    body: { details: { reason: 'endpoint_not_found' } },
  });
  await hooks.put('gone', { url: hook() });
  expect(await hooks.deliveries('gone')).toEqual([]);
});

test('the twenty-first endpoint is refused, also when many are made at once', async () => {
  const hooks = webhooksOf(notify);
  const made = await Promise.all(
    Array.from({ length: 25 }, (_, n) => hooks.send('PUT', `/e${n}`, { url: hook() }).then(({ status: code }) => code)),
  );
  expect(made.filter((code) => code === 201)).toHaveLength(20);
  expect(await hooks.send('PUT', '/more', { url: hook() })).toMatchObject({
    status: 409,
    body: { details: { reason: 'limit_reached', limit: 'webhook_endpoints', allowed: 20 } },
  });
});

test('endpoints of another subject are not there', async () => {
  const hooks = webhooksOf(notify);
  await hooks.put('mine', { url: hook() });
  const other = webhooksOf(notify, newSubject());
  for (const [method, rest, body] of [
    ['GET', '/mine', undefined],
    ['GET', '/mine/deliveries', undefined],
    ['POST', '/mine/test', undefined],
    ['POST', '/mine/rotate-secret', { overlap_s: 0 }],
    ['POST', '/mine/recover', { since_ms: 0 }],
  ] as const) {
    expect(await other.send(method, rest, body)).toMatchObject({ status: 404 });
  }
  expect((await other.send('GET', '')).body).toEqual({ items: [] });
});

test.each([
  ['url', 'http://user@127.0.0.1/x', 'webhook_url_invalid'],
  ['url', 'ftp://127.0.0.1/x', 'webhook_url_invalid'],
  ['url', 'https://10.0.0.1/x', 'webhook_url_invalid'],
  ['url', 'https://169.254.169.254/latest', 'webhook_url_invalid'],
  ['url', 'https://[::1]/', 'webhook_url_invalid'],
  ['url', 'https://8.8.8.8:22/', 'webhook_url_invalid'],
  ['url', 'https://2130706433/', 'webhook_url_invalid'],
  ['url', `https://example.org/${'x'.repeat(2048)}`, 'webhook_url_invalid'],
  ['url', 7, 'webhook_url_invalid'],
  ['secret', 'whsec_c2hvcnQ=', 'secret_invalid'],
  ['secret', `whsec_${Buffer.alloc(65).toString('base64')}`, 'secret_invalid'],
  ['secret', 'whsec_not base64 at all, really not', 'secret_invalid'],
  ['secret', Buffer.alloc(32).toString('base64'), 'secret_invalid'],
  ['event_types', ['task.paused'], 'body_invalid'],
  ['event_types', [], 'body_invalid'],
  ['colour', 'red', 'unknown_field'],
])('refuses %s %j', async (field, value, reason) => {
  const hooks = webhooksOf(notify);
  const answer = await hooks.send('PUT', '/bad', { url: hook(), [field]: value });
  expect(answer).toMatchObject({ status: 400, body: { details: { reason } } });
  expect(JSON.stringify(answer.body)).not.toContain('canary');
  expect((await hooks.send('GET', '')).body).toEqual({ items: [] });
});
