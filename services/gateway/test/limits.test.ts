import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { freePort } from '@vision/shared/testing/ports';
import { until } from '@vision/shared/testing/until';
import { bearer, exchange, refusal, startGateway, stopKeyCacheAging } from './support/gateway.ts';
import type { Answer, TestGateway } from './support/gateway.ts';
import { endLeases, leasesOf } from './support/leases.ts';
import { startGatewayProcess, startRedis } from './support/programs.ts';
import { wire } from './support/wire.ts';

let gateway: TestGateway;
const held: ServerResponse[] = [];
beforeAll(async () => {
  // No lease expires by itself, however long a test takes.
  gateway = await startGateway({ SLOT_LEASE_MS: '3600000' });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());
afterEach(() => {
  letGo();
  jest.restoreAllMocks();
});

const ask = (key: string, url = gateway.url) => exchange(`${url}/api/op/v1/scenes`, 'GET', { headers: bearer(key) });
const detect = (key: string, url = gateway.url, path = '/v1/vision/image-detections') =>
  exchange(url + path, 'POST', { headers: bearer(key), body: 'x' });
const count = (answers: Answer[], status: number) => answers.filter((answer) => answer.status === status).length;

/** The service behind holds its responses until `letGo`. */
function holdAnswers(): void {
  gateway.upstream.answer = (req, res) => {
    req.resume();
    held.push(res);
  };
}

function letGo(): void {
  for (const res of held.splice(0)) res.writeHead(200).end();
}

test('200 requests at once against a burst of 50: 50 pass and what the time in between refilled', async () => {
  const { key } = await gateway.newKey({ requests_per_second: 2, burst: 50 });
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(key)));
  const refilled = ((performance.now() - startedAt) / 1000) * 2;
  expect(count(answers, 200)).toBeGreaterThanOrEqual(50);
  expect(count(answers, 200)).toBeLessThanOrEqual(50 + Math.ceil(refilled));
  expect(count(answers, 200) + count(answers, 429)).toBe(200);
  const refused = answers.find((answer) => answer.status === 429);
  expect(refused && refusal(refused)).toEqual([429, 'OP-QUOTA-RATE-LIMITED', 'rate_exceeded']);
  expect(refused?.headers.get('retry-after')).toBe('1');
  expect(refused?.headers.get('ratelimit-policy')).toBe('"requests";q=50;w=25');
  expect(refused?.headers.get('ratelimit')).toBe('"requests";r=0;t=1');
});

test('replicas share the bucket, and it refills at the rate', async () => {
  const other = await gateway.addReplica();
  const { key } = await gateway.newKey({ requests_per_second: 1, burst: 20 });
  const startedAt = performance.now();
  const urls = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? gateway.url : other.url));
  const answers = await Promise.all(urls.map((url) => ask(key, url)));
  const refilled = (performance.now() - startedAt) / 1000;
  expect(count(answers, 200)).toBeGreaterThanOrEqual(20);
  expect(count(answers, 200)).toBeLessThanOrEqual(20 + Math.ceil(refilled));
  await until(async () => (await ask(key, other.url)).status === 200);
});

test('a bucket refills at its rate also where that does not fill it in whole seconds', async () => {
  const { key } = await gateway.newKey({ requests_per_second: 60, burst: 61 });
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(key)));
  expect(count(answers, 200)).toBe(50);
  // 50 are back in less than a second.
  for (const { headers } of answers) expect(headers.get('ratelimit')).toContain(';t=1');
});

test('every answer of a keyed request carries the limits, also refusals and unknown addresses', async () => {
  const { key } = await gateway.newKey();
  for (const path of ['/api/op/v1/scenes', '/nothing', '/v1/vision/usage', '/v1/vision/tasks/x']) {
    const { headers } = await exchange(gateway.url + path, 'GET', { headers: bearer(key) });
    expect(headers.get('ratelimit-policy')).toBe('"requests";q=200;w=2');
    expect(headers.get('ratelimit')).toMatch(/^"requests";r=1\d\d;t=1$/);
  }
});

test('a burst of nothing closes the door for a subject without an error', async () => {
  const { key } = await gateway.newKey({ burst: 0 });
  const answer = await ask(key);
  expect(refusal(answer)).toEqual([429, 'OP-QUOTA-RATE-LIMITED', 'rate_exceeded']);
  expect(answer.headers.get('retry-after')).toBe('60');
});

test('a changed limit holds at once here, and elsewhere before the cache of keys runs out', async () => {
  const other = await gateway.addReplica();
  const { key, subject } = await gateway.newKey();
  stopKeyCacheAging();
  expect((await ask(key, other.url)).headers.get('ratelimit-policy')).toContain('q=200');
  await gateway.admin('PUT', `/admin/v1/subjects/${subject}/limits`, { burst: 7 });
  expect((await ask(key)).headers.get('ratelimit-policy')).toContain('q=7');
  const policy = async () => (await ask(key, other.url)).headers.get('ratelimit-policy');
  await until(async () => (await policy())?.includes('q=7'), { intervalMs: 300 });
});

test.each([
  ['/v1/vision/image-detections', 'image_calls'],
  ['/v1/vision/video-tasks', 'video_uploads'],
])('%s has no more requests at once than %s, on all replicas together', async (path, limit) => {
  const other = await gateway.addReplica();
  const { key } = await gateway.newKey({ [limit]: 3 });
  holdAnswers();
  const running = [gateway.url, other.url, gateway.url].map((url) => detect(key, url, path));
  await until(() => held.length === 3);
  for (const url of [gateway.url, other.url]) {
    const refused = await detect(key, url, path);
    expect(refusal(refused)).toEqual([429, 'OP-QUOTA-RATE-LIMITED', 'too_many_in_flight']);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toMatch(new RegExp(`, "${limit}";r=0$`));
  }
  const someoneElse = await gateway.newKey();
  gateway.upstream.reset();
  expect((await detect(someoneElse.key, gateway.url, path)).status).toBe(200);
  letGo();
  expect(count(await Promise.all(running), 200)).toBe(3);
  await until(async () => (await detect(key, other.url, path)).status === 200);
});

/** Begins to upload a video, and sends no more. */
async function beginUpload(key: string, url = gateway.url) {
  const authorization = `Authorization: Bearer ${key}`;
  const head = ['POST /v1/vision/video-tasks HTTP/1.1', 'Host: x', authorization, 'Content-Length: 10'];
  const { socket } = await wire(url, ...head);
  await until(() => held.length === 1);
  return socket;
}

test('a slot lives as long as its upload, however long', async () => {
  // Long enough for a busy machine to renew it, at a third of it, before it ends.
  const { url } = await gateway.addReplica({ SLOT_LEASE_MS: '9000' });
  const { key, subject } = await gateway.newKey({ video_uploads: 1 });
  holdAnswers();
  const socket = await beginUpload(key, url);
  const leases = () => leasesOf(gateway.redis, 'video_uploads', subject);
  const [lease] = await leases();
  await until(async () => Number((await leases())[0]?.endsAt) > Number(lease?.endsAt));
  expect((await leases()).map(({ id }) => id)).toEqual([lease?.id]);
  expect((await detect(key, url, '/v1/vision/video-tasks')).status).toBe(429);
  socket.destroy();
});

test('downloads of a video have slots of their own, which their readers release', async () => {
  const { key } = await gateway.newKey({ video_downloads: 1, video_uploads: 0 });
  const download = (signal?: AbortSignal) =>
    fetch(`${gateway.url}/v1/vision/tasks/${randomUUID()}/video`, {
      headers: bearer(key),
      ...(signal ? { signal } : {}),
    });
  holdAnswers();
  const leaving = new AbortController();
  const first = download(leaving.signal).catch(() => undefined);
  await until(() => held.length === 1);
  const second = await download();
  expect([second.status, await second.json()]).toMatchObject([429, { details: { limit: 'video_downloads' } }]);
  leaving.abort();
  await first;
  gateway.upstream.reset();
  await until(async () => (await download()).status === 200);
});

test('a slot is free when the client goes away, long before its lease has expired', async () => {
  const { key } = await gateway.newKey({ video_uploads: 1 });
  const upload = () => detect(key, gateway.url, '/v1/vision/video-tasks');
  holdAnswers();
  const socket = await beginUpload(key);
  expect((await upload()).status).toBe(429);
  socket.destroy();
  gateway.upstream.reset();
  await until(async () => (await upload()).status === 200);
});

test('a whole upload keeps its slot while it is worked on, also when the client has left', async () => {
  const { key } = await gateway.newKey({ video_uploads: 1 });
  const upload = () => detect(key, gateway.url, '/v1/vision/video-tasks');
  holdAnswers();
  const leaving = new AbortController();
  const running = exchange(`${gateway.url}/v1/vision/video-tasks`, 'POST', {
    headers: bearer(key),
    body: 'x',
    signal: leaving.signal,
  });
  const gone = expect(running).rejects.toThrow();
  await until(() => held.length === 1);
  leaving.abort();
  await gone;
  expect((await upload()).status).toBe(429);
  gateway.upstream.reset();
  letGo();
  await until(async () => (await upload()).status === 200);
});

test('a slot is free again with the last byte of the answer', async () => {
  const { key } = await gateway.newKey({ image_calls: 1 });
  for (let turn = 0; turn < 5; turn += 1) expect((await detect(key)).status).toBe(200);
});

test('slots of a gateway that was killed free themselves, also while others of the subject are in use', async () => {
  const doomed = await startGatewayProcess(gateway.env);
  const { key, subject } = await gateway.newKey({ image_calls: 3 });
  holdAnswers();
  const living = detect(key);
  await until(() => held.length === 1);
  const leases = () => leasesOf(gateway.redis, 'image_calls', subject);
  const [kept] = await leases();
  const cut = Promise.allSettled([detect(key, doomed.url), detect(key, doomed.url)]);
  await until(() => held.length === 3);
  expect((await detect(key)).status).toBe(429);
  await doomed.kill();
  expect((await cut).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  gateway.upstream.reset();
  expect((await detect(key)).status).toBe(429);
  const left = (await leases()).filter(({ id }) => id !== kept?.id);
  expect(left).toHaveLength(2);
  await endLeases(gateway.redis, 'image_calls', subject, left);
  expect((await detect(key)).status).toBe(200);
  letGo();
  expect((await living).status).toBe(200);
});

test('without Redis local limits hold, requests go on, and Redis is taken up again when it returns', async () => {
  const port = await freePort();
  let redis = await startRedis(port);
  const alone = await startGateway({ REDIS_URL: `redis://127.0.0.1:${port}`, REDIS_COOLDOWN_MS: '200' });
  try {
    const { key } = await alone.newKey({ requests_per_second: 1, burst: 20, image_calls: 2 });
    expect((await ask(key, alone.url)).status).toBe(200);
    await redis.kill();
    const startedAt = performance.now();
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask(key, alone.url)));
    const refilled = (performance.now() - startedAt) / 1000;
    expect(count(answers, 200)).toBeGreaterThanOrEqual(19);
    expect(count(answers, 200)).toBeLessThanOrEqual(20 + Math.ceil(refilled));
    expect(count(answers, 429)).toBe(60 - count(answers, 200));
    expect(alone.log()).toContain('redis unavailable');
    const other = await alone.newKey({ image_calls: 2 });
    const waiting: ServerResponse[] = [];
    alone.upstream.answer = (_req, res) => waiting.push(res);
    const running = [detect(other.key, alone.url), detect(other.key, alone.url)];
    await until(() => waiting.length === 2);
    expect((await detect(other.key, alone.url)).status).toBe(429);
    redis = await startRedis(port);
    await until(async () => {
      await ask(other.key, alone.url);
      return alone.log().includes('redis available again');
    });
    for (const res of waiting) res.writeHead(200).end();
    expect(count(await Promise.all(running), 200)).toBe(2);
  } finally {
    await alone.stop();
    await redis.kill();
  }
});

test('a Redis that hangs delays a request by its deadline at most, and only the first', async () => {
  const port = await freePort();
  const redis = await startRedis(port);
  const alone = await startGateway({
    REDIS_URL: `redis://127.0.0.1:${port}`,
    REDIS_COOLDOWN_MS: '60000',
    REDIS_TIMEOUT_MS: '2000',
  });
  try {
    const { key } = await alone.newKey();
    expect((await ask(key, alone.url)).status).toBe(200);
    redis.signal('SIGSTOP');
    const startedAt = performance.now();
    for (let turn = 0; turn < 10; turn += 1) expect((await ask(key, alone.url)).status).toBe(200);
    // Two seconds as it is, twenty if every request waited.
    expect(performance.now() - startedAt).toBeLessThan(12_000);
  } finally {
    await alone.stop();
    redis.signal('SIGCONT');
    await redis.kill();
  }
});
