import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { defaultLimits } from '@vision/contracts/limits';
import { topics } from '@vision/contracts/topics';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { until } from '@vision/shared/testing/until';
import { detected } from './support/fake-inference.ts';
import { files, multipart, picture } from './support/form.ts';
import { openPost, answerOf } from './support/raw-client.ts';
import { startS3Proxy } from './support/s3-proxy.ts';
import { createWorld, startImages, startReplica } from './support/start-images.ts';
import type { TestImages } from './support/start-images.ts';

let kafka: TestKafka;
let images: TestImages | undefined;
beforeAll(async () => {
  kafka = await testKafka({ topics: [topics.images] });
});
afterAll(() => kafka.close());
afterEach(async () => {
  await images?.stop();
  images = undefined;
});

const start = async (over: Record<string, string> = {}) => (images = await startImages(over, kafka));
const ten = () => files(...Array.from({ length: 10 }, (_, index) => picture(`p${index}`)));

/** No image stored, no unit charged, key free. Images whose removal a refusal does not await are removed later. */
async function expectUndone({ database, s3, quota }: Pick<TestImages, 'database' | 's3' | 'quota'>): Promise<void> {
  expect(await database.db('idempotency_keys')).toEqual([]);
  expect(await database.db('image_calls')).toEqual([]);
  await until(async () => (await s3.objects()).length === 0);
  await until(() => quota.used() === 0);
}

test('without the store, calls are refused and rolled back, their keys are free, and the breaker stays closed', async () => {
  const it = await start({ S3_ENDPOINT: `http://127.0.0.1:${await closedPort()}` });
  it.inference.answer = () => 'hang';
  for (let turn = 0; turn < 3; turn += 1) {
    const { status, body } = await it.detect(ten());
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'OP-SYS-UNAVAILABLE' });
  }
  await expectUndone(it);
});

test('images that the store refuses fail individually and are not charged', async () => {
  const world = await createWorld(kafka);
  const proxy = await startS3Proxy(world.s3.endpoint, (method, path) =>
    method === 'PUT' && /\/[13]$/.test(path) ? 'refuse' : 'pass',
  );
  const replica = await startReplica(world, { S3_ENDPOINT: proxy.url });
  const { status, body } = await replica.detect(files(...['a', 'b', 'c', 'd'].map((name) => picture(name))));
  expect(status).toBe(201);
  expect(body.results.map((entry) => entry.error_code ?? entry.status)).toEqual([
    'succeeded',
    'OP-SYS-UNAVAILABLE',
    'succeeded',
    'OP-SYS-UNAVAILABLE',
  ]);
  expect(world.quota.used()).toBe(2);
  await replica.stop();
  await proxy.close();
  await world.close();
});

test('a store that hangs is awaited once: images that have not begun fail with the others', async () => {
  const world = await createWorld(kafka);
  const puts: string[] = [];
  const proxy = await startS3Proxy(world.s3.endpoint, (method, path) => {
    if (method === 'PUT') puts.push(path);
    return 'hang';
  });
  const replica = await startReplica(world, { S3_ENDPOINT: proxy.url, S3_IDLE_MS: '2000' });
  const { status, body } = await replica.detect(ten());
  expect({ status, code: body.code }).toEqual({ status: 503, code: 'OP-SYS-UNAVAILABLE' });
  expect(puts).toHaveLength(4);
  await replica.stop();
  await proxy.close();
  await expectUndone(world);
  await world.close();
});

test('a refusal does not wait for a hanging store to remove images', async () => {
  const world = await createWorld(kafka);
  const proxy = await startS3Proxy(world.s3.endpoint, (method) => (method === 'PUT' ? 'refuse' : 'hang'));
  const replica = await startReplica(world, { S3_ENDPOINT: proxy.url, S3_IDLE_MS: '60000' });
  const began = Date.now();
  expect((await replica.detect(ten())).status).toBe(503);
  // About two seconds; half a minute if it waited for the removal.
  expect(Date.now() - began).toBeLessThan(20_000);
  await expectUndone(world);
  await proxy.close();
  await replica.stop();
  await world.close();
});

test('without quota a call is refused and stores no data; an event reports the rollback', async () => {
  const it = await start();
  it.quota.fault = (what) => (what === 'usage' ? 'none' : 'refuse');
  const { status, body } = await it.detect(ten());
  expect({ status, code: body.code }).toEqual({ status: 503, code: 'OP-SYS-UNAVAILABLE' });
  await expectUndone(it);
  const [event] = await it.database.db<{ payload: object }>('outbox');
  expect(event?.payload).toMatchObject({ status: 'refunded', images_succeeded: 0 });
});

test('a reservation that quota rejects as invalid is an internal fault, not a fault of the caller', async () => {
  const it = await start();
  it.quota.fault = (what) => (what === 'reserve' ? 'reject' : 'none');
  const { status, body } = await it.detect(ten());
  expect({ status, code: body.code, details: body.details }).toEqual({
    status: 503,
    code: 'OP-SYS-UNAVAILABLE',
    details: { reason: 'quota_unavailable' },
  });
  await expectUndone(it);
});

test('a reservation whose answer is lost is retried and charged once', async () => {
  const it = await start();
  let lost = 0;
  it.quota.fault = (what) => (what === 'reserve' && lost++ === 0 ? 'lose' : 'none');
  expect((await it.detect(ten())).status).toBe(201);
  expect(it.quota.used()).toBe(10);
});

test('a failed settlement request does not fail the call', async () => {
  const it = await start();
  it.inference.answer = (name) => (name === 'p3' ? { status: 422, body: { reason: 'no' } } : detected());
  it.quota.fault = (what) => (what === 'settlement' ? 'refuse' : 'none');
  expect((await it.detect(ten())).status).toBe(201);
  const [event] = await it.database.db<{ payload: object }>('outbox');
  expect(event?.payload).toMatchObject({ status: 'succeeded', images_total: 10, images_succeeded: 9 });
});

test('with the backend unavailable every image fails individually, then the breaker refuses calls until it returns', async () => {
  const it = await start({ BREAKER_RESET_MS: '12000' });
  it.inference.answer = () => 'drop';
  const first = await it.detect(ten());
  expect(first.status).toBe(201);
  expect(first.body.results.map((entry) => entry.error_code)).toEqual(Array(10).fill('OP-TASK-UPSTREAM-DOWN'));
  const key = randomUUID();
  const refused = await it.post(files(picture('later')), { key });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toMatch(/^([1-9]|1[012])$/);
  expect(await refused.json()).toMatchObject({ code: 'OP-TASK-BREAKER-OPEN', details: { reason: 'breaker_open' } });
  expect(it.quota.used()).toBe(0);
  it.inference.answer = () => detected();
  await until(async () => (await it.detect(files(picture('later')), { key })).status === 201);
});

test('a half-open breaker tries one image; the others of its call wait for the outcome', async () => {
  const it = await start({ BREAKER_RESET_MS: '300' });
  it.inference.answer = () => 'drop';
  await it.detect(ten());
  it.inference.answer = () => detected();
  const first = await until(async () => {
    const answer = await it.detect(ten());
    return answer.status === 201 ? answer : undefined;
  });
  expect(first.body.results.map((entry) => entry.error_code ?? entry.status)).toEqual(Array(10).fill('succeeded'));
});

test('while a half-open breaker tries an image of another call, an admitted call is refused entirely', async () => {
  const it = await start({ BREAKER_RESET_MS: '300' });
  it.inference.answer = () => 'drop';
  await it.detect(ten());
  let admitted = 0;
  it.quota.fault = (what) => {
    if (what === 'usage') admitted += 1;
    return 'none';
  };
  const [slowKey, body] = [randomUUID(), multipart(ten())];
  // Quota is queried for a subject whose remaining units are unknown.
  const caller = { subject: 'slow' };
  const openSlow = async () => {
    const before = admitted;
    const req = openPost(it.url, { token: await it.tokenOf(caller), key: slowKey });
    const answer = answerOf(req);
    req.write(body.subarray(0, 1_000));
    // eslint-disable-next-line no-restricted-syntax -- `until` times out by itself, the answer is used later
    const refused = await Promise.race([answer.then(() => true), until(() => admitted > before).then(() => false)]);
    return refused ? undefined : { req, answer };
  };
  const slow = await until(openSlow);
  const { promise: decided, resolve: decide } = Promise.withResolvers<void>();
  const tries = it.inference.seen.length + 1;
  it.inference.answer = async () => {
    await decided;
    return detected();
  };
  const trying = it.detect(files(picture('try')));
  await until(() => it.inference.seen.length === tries);
  slow.req.end(body.subarray(1_000));
  const refused = await slow.answer.finally(decide);
  expect(refused).toEqual({ status: 503, reason: 'breaker_open' });
  expect((await trying).status).toBe(201);
  expect(it.inference.seen).toHaveLength(tries);
  // The first call kept its ten images; no image of the refused call is stored.
  await until(async () => (await it.s3.objects()).length === 11);
  await until(() => it.quota.used() === 1);
  expect((await it.detect(ten(), { key: slowKey, caller })).status).toBe(201);
});

test('images of a call during which the breaker opens fail as the backend does', async () => {
  const it = await start({ BREAKER_RESET_MS: '600000', IMAGES_PER_CALL_AT_ONCE: '1' });
  it.inference.answer = () => 'drop';
  await it.detect(files(...Array.from({ length: 8 }, (_, index) => picture(`q${index}`))));
  const { status, body } = await it.detect(files(...Array.from({ length: 5 }, (_, index) => picture(`r${index}`))));
  expect(status).toBe(201);
  expect(body.results.map((entry) => entry.error_code)).toEqual(Array(5).fill('OP-TASK-UPSTREAM-DOWN'));
  expect(it.inference.seen.filter((name) => name.startsWith('r'))).toHaveLength(2);
});

test.each([
  ['is not configured', ''],
  ['has an unknown host name', 'http://inference.invalid'],
])('a backend that %s counts as not configured', async (_what, INFERENCE_URL) => {
  const it = await start({ INFERENCE_URL });
  const { status, body } = await it.detect(files(picture()));
  expect({ status, code: body.code }).toEqual({ status: 503, code: 'OP-SYS-UNAVAILABLE' });
  await expectUndone(it);
});

test('a request to a hanging backend ends at its deadline', async () => {
  const it = await start({ DETECT_TIMEOUT_MS: '6000' });
  it.inference.answer = (name) => (name === 'p0' ? 'hang' : detected());
  const { body } = await it.detect(files(picture('p0'), picture('p1')));
  expect(body.results.map((entry) => entry.error_code ?? entry.status)).toEqual(['OP-TASK-UPSTREAM-DOWN', 'succeeded']);
});

test('a backend that hangs is awaited once: images that have not begun fail with the others', async () => {
  const it = await start({ DETECT_TIMEOUT_MS: '6000' });
  it.inference.answer = () => 'hang';
  const { status, body } = await it.detect(ten());
  expect(status).toBe(201);
  expect(body.results.map((entry) => entry.error_code)).toEqual(Array(10).fill('OP-TASK-UPSTREAM-DOWN'));
  expect(it.inference.seen).toHaveLength(4);
  await until(() => it.quota.used() === 0);
});

test('images that get no slot in the time of their call fail and are not charged', async () => {
  const it = await start({ IMAGES_AT_ONCE: '2', DETECT_TIMEOUT_MS: '60000', CALL_TIMEOUT_MS: '70000' });
  const { promise: decided, resolve: decide } = Promise.withResolvers<void>();
  it.inference.answer = async () => {
    await decided;
    return detected();
  };
  const first = it.detect(files(picture('first')));
  await until(() => it.inference.seen.length === 1);
  const waiting = await it.detect(ten());
  expect(waiting.status).toBe(201);
  expect(waiting.body.results.map((entry) => entry.error_code)).toEqual(Array(10).fill('OP-TASK-UPSTREAM-DOWN'));
  expect(it.inference.seen).toEqual(['first']);
  decide();
  expect((await first).body.results.map(({ status }) => status)).toEqual(['succeeded']);
  expect(it.quota.used()).toBe(1);
});

test('the work on an image in progress ends with the time of its call', async () => {
  const world = await createWorld(kafka);
  const proxy = await startS3Proxy(world.s3.endpoint, (method) => (method === 'PUT' ? 'hang' : 'pass'));
  const times = { S3_IDLE_MS: '60000', DETECT_TIMEOUT_MS: '500', CALL_TIMEOUT_MS: '1500' };
  const replica = await startReplica(world, { S3_ENDPOINT: proxy.url, ...times });
  const { status, body } = await replica.detect(files(picture('a'), picture('b')));
  expect(status).toBe(201);
  expect(body.results.map((entry) => entry.error_code)).toEqual(Array(2).fill('OP-TASK-UPSTREAM-DOWN'));
  expect(world.quota.used()).toBe(0);
  // The removal from the hanging store ends with its connection.
  await proxy.close();
  await replica.stop();
  await world.close();
});

test('maintenance refuses new calls before their body is read', async () => {
  const it = await start();
  const token = await it.tokenOf({ maintenance: { reason: 'new disks' } });
  const req = openPost(it.url, { token, key: randomUUID(), headers: { 'content-length': '1000000' } });
  req.flushHeaders();
  expect(await answerOf(req)).toEqual({ status: 503, reason: 'maintenance' });
  req.destroy();
});

test('refuses more images than the daily quota has left, with details of the quota', async () => {
  const it = await start();
  const caller = { limits: { ...defaultLimits, images_per_day: 12 } };
  const key = randomUUID();
  expect((await it.detect(files(picture('1'), picture('2'), picture('3')), { caller })).status).toBe(201);
  const refused = await it.post(ten(), { caller, key });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1000);
  expect(await refused.json()).toMatchObject({
    code: 'OP-QUOTA-DAILY-EXHAUSTED',
    details: { limit: 12, used: 3, requested: 10, resets_at: expect.any(String) },
  });
  expect(await it.s3.objects()).toHaveLength(3);
  expect((await it.detect(files(...Array.from({ length: 9 }, () => picture('9'))), { caller, key })).status).toBe(201);
  expect(it.quota.used()).toBe(12);
});

test('suggests a retry soon while a refund of a running call could cover the refused one', async () => {
  const it = await start();
  const caller = { limits: { ...defaultLimits, images_per_day: 12 } };
  const { promise: detection, resolve: detect } = Promise.withResolvers<void>();
  it.inference.answer = async () => {
    await detection;
    return detected();
  };
  const running = it.detect(files(picture('1'), picture('2'), picture('3')), { caller });
  await until(() => it.quota.used() === 3);
  const refused = await it.post(ten(), { caller });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
  detect();
  expect((await running).status).toBe(201);
  expect(Number((await it.post(ten(), { caller })).headers.get('retry-after'))).toBeGreaterThan(1000);
});

test('with the daily quota used up, a call is refused before its body is read', async () => {
  const it = await start();
  it.quota.usedElsewhere = 1000;
  const req = openPost(it.url, { token: await it.tokenOf(), key: randomUUID() });
  req.flushHeaders();
  expect(await answerOf(req)).toEqual({ status: 429, reason: 'daily_quota_exhausted' });
  req.destroy();
});

test('forty concurrent calls of ten images charge exactly the daily limit of a hundred', async () => {
  const it = await start();
  const caller = { limits: { ...defaultLimits, images_per_day: 100 } };
  const answers = await Promise.all(Array.from({ length: 40 }, () => it.detect(ten(), { caller })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  expect(it.quota.used()).toBe(100);
  expect(await it.s3.objects()).toHaveLength(100);
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
