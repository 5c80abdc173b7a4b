import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { EndedKey } from '@vision/contracts/webhook-keys';
import { testToken } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { acknowledges, startFakeBroker } from './brokers.ts';
import { refuse, startReceiver, status } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { startNotify, task } from './support.ts';
import type { TestNotify } from './support.ts';
import { isAll, newSubject, webhooksOf } from './webhook-support.ts';

let notify: TestNotify;
let receiver: Receiver;
beforeAll(async () => {
  notify = await startNotify({ MQTT_ALLOW_PLAIN: 'true' });
  receiver = await startReceiver();
});
afterAll(async () => {
  await notify.stop();
  await receiver.close();
});

async function ask(method: string, path: string, caller: { subject: string; keyId?: string }, body?: unknown) {
  const headers = {
    authorization: `Bearer ${await testToken('gateway', 'notify', caller)}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const url = `http://127.0.0.1:${notify.service.port}${path}`;
  const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return (await answer.json()) as Record<string, unknown>;
}
const put = (subject: string, id: string, keyId: string) =>
  ask('PUT', `/v1/vision/webhook-endpoints/${id}`, { subject, keyId }, { url: receiver.url });
const end = (...items: EndedKey[]) =>
  ask('POST', '/internal/v1/webhook-keys/ended', { subject: 'operator' }, { items });
const keysOf = async (subject: string) => {
  const { items } = await ask('GET', '/internal/v1/webhook-keys', { subject: 'operator' });
  return (items as EndedKey[]).filter((one) => one.subject === subject).map(({ key_id }) => key_id);
};

test('nothing is delivered by endpoints of a revoked key: pending deliveries are dropped, and an event has the reason', async () => {
  const hooks = webhooksOf(notify);
  const { subject } = hooks;
  await put(subject, 'leaked', 'key-1');
  await put(subject, 'mine', 'key-2');
  receiver.answer(refuse);
  await notify.tell(task({ subject }));
  for (const id of ['leaked', 'mine']) await hooks.until(id, ([one]) => one?.attempts.length === 1);
  expect(await keysOf(subject)).toEqual(['key-1', 'key-2']);

  const ended = { subject, key_id: 'key-1', reason: 'key_revoked' as const };
  expect(await end(ended)).toEqual({ endpoints: 1, deliveries: 1 });
  expect(await end(ended)).toEqual({ endpoints: 0, deliveries: 0 });
  expect(await hooks.deliveries('leaked')).toEqual([]);
  expect(await hooks.get('leaked')).toMatchObject({ enabled: false, disabled_reason: 'key_revoked' });
  expect(await keysOf(subject)).toEqual(['key-2']);

  receiver.answer(status(204));
  receiver.received.length = 0;
  await hooks.hurry();
  await notify.tell(task({ subject }));
  const bodies = (await hooks.until('mine', isAll('delivered', 3))).map(({ type }) => type);
  expect(bodies.sort()).toEqual(['task.running', 'task.running', 'webhook_endpoint.disabled']);
  expect(receiver.received).toHaveLength(3);
  const { items } = await notify.page('?types=webhook_endpoint.disabled', subject);
  expect(items.map(({ data }) => data)).toEqual([{ endpoint_id: 'leaked', reason: 'key_revoked' }]);
});

test('an endpoint belongs to the key that changed it last, and resumes when a valid key sends it', async () => {
  const hooks = webhooksOf(notify);
  const { subject } = hooks;
  await put(subject, 'gate', 'key-1');
  await put(subject, 'gate', 'key-2');
  expect(await end({ subject, key_id: 'key-1', reason: 'key_revoked' })).toMatchObject({ endpoints: 0 });
  expect(await end({ subject, key_id: 'key-2', reason: 'no_key' })).toMatchObject({ endpoints: 1 });
  expect(await hooks.get('gate')).toMatchObject({ enabled: false, disabled_reason: 'no_key' });
  await put(subject, 'gate', 'key-3');
  await notify.tell(task({ subject }));
  await hooks.until('gate', isAll('delivered'));
});

test('an endpoint of an earlier release belongs to its subject', async () => {
  const hooks = webhooksOf(notify, newSubject());
  await hooks.put('old', { url: receiver.url });
  expect(await keysOf(hooks.subject)).toEqual([null]);
  await end({ subject: hooks.subject, key_id: null, reason: 'no_key' });
  expect(await hooks.get('old')).toMatchObject({ enabled: false });
});

test('keys are listed a page at a time, each once', async () => {
  const subject = newSubject();
  for (const id of ['a', 'b']) await put(subject, id, 'key-1');
  await put(subject, 'c', 'key-2');
  const after = async (query: string) => {
    const { items } = await ask('GET', `/internal/v1/webhook-keys?${query}`, { subject: 'operator' });
    return (items as EndedKey[]).filter((one) => one.subject === subject).map(({ key_id }) => key_id);
  };
  expect(await after(`after_subject=${subject}`)).toEqual(['key-1', 'key-2']);
  expect(await after(`after_subject=${subject}&after_key=key-1`)).toEqual(['key-2']);
});

test('an MQTT endpoint of a revoked key is disconnected and disabled, with an event', async () => {
  const subject = newSubject();
  const open = await startFakeBroker(acknowledges);
  const path = '/v1/vision/mqtt-endpoints/home';
  const get = () => ask('GET', path, { subject });
  try {
    await ask('PUT', path, { subject, keyId: 'key-1' }, { url: `mqtt://127.0.0.1:${open.port}` });
    await until(async () => 'connected_since' in (await get()));
    expect(await keysOf(subject)).toEqual(['key-1']);
    expect(await end({ subject, key_id: 'key-1', reason: 'key_revoked' })).toEqual({ endpoints: 1, deliveries: 0 });
    await until(() => open.received.some(({ cmd }) => cmd === 'disconnect'));
    await notify.tell(task({ subject }));
    expect(await get()).toMatchObject({ enabled: false, disabled_reason: 'key_revoked' });
    const { items } = await notify.page('', subject);
    expect(items.map(({ type }) => type)).toEqual(['mqtt_endpoint.disabled', 'task.running']);
    expect(open.received.filter(({ cmd }) => cmd === 'publish')).toEqual([]);
  } finally {
    await open.close();
  }
});
