import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { refusedImagesHeader } from '@vision/contracts/images';
import { processorTimeHeader } from '@vision/contracts/inference';
import { freePort } from '@vision/shared/testing/ports';
import { until } from '@vision/shared/testing/until';
import { bearer, exchange, refusal, startGateway } from './support/gateway.ts';
import type { TestGateway } from './support/gateway.ts';

const settings = { PICTURE_FREE_CPU_MS: '300', PICTURE_CPU_MS_PER_S: '1000', PICTURE_CPU_BURST_MS: '3000' };
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway(settings);
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.upstream.reset());

const path = '/v1/vision/image-detections';
const detect = (key: string, url = gateway.url, signal?: AbortSignal) =>
  exchange(url + path, 'POST', { headers: bearer(key), body: 'x', ...(signal ? { signal } : {}) });

/** Sets the cost of images from now on. */
function costs(...milliseconds: number[]): void {
  gateway.upstream.answer = (req, res) => {
    req.resume().once('end', () => res.writeHead(201, { [processorTimeHeader]: milliseconds.join(',') }).end('{}'));
  };
}

test('ordinary images never meet the budget, and callers do not see their cost', async () => {
  const { key } = await gateway.newKey();
  costs(...Array<number>(10).fill(300));
  for (let call = 0; call < 30; call += 1) {
    const { status, headers } = await detect(key);
    expect(status).toBe(201);
    expect(headers.get(processorTimeHeader)).toBeNull();
  }
});

/** Makes every call have ten ordinary images, of which this many cannot be read. */
function refuses(pictures: number): void {
  const headers = {
    [processorTimeHeader]: Array<number>(10).fill(10).join(','),
    [refusedImagesHeader]: String(pictures),
  };
  gateway.upstream.answer = (req, res) => {
    req.resume().once('end', () => res.writeHead(201, headers).end('{}'));
  };
}

test('a subject that sends only unreadable images is refused once its budget is gone; readable ones are free', async () => {
  const budget = { REFUSED_PICTURE_CPU_MS: '100', PICTURE_CPU_MS_PER_S: '1', PICTURE_CPU_BURST_MS: '2500' };
  const { url } = await gateway.addReplica(budget);
  const [hostile, honest] = [await gateway.newKey(), await gateway.newKey()];
  refuses(10);
  for (let call = 0; call < 3; call += 1) {
    const { status, headers } = await detect(hostile.key, url);
    expect(status).toBe(201);
    expect(headers.get(refusedImagesHeader)).toBeNull();
  }
  expect(refusal(await detect(hostile.key, url))).toEqual([429, 'OP-QUOTA-RATE-LIMITED', 'processor_time_exceeded']);
  refuses(0);
  for (let call = 0; call < 30; call += 1) expect((await detect(honest.key, url)).status).toBe(201);
});

test('a subject beyond its budget waits for its Retry-After, on every replica; others do not', async () => {
  const other = await gateway.addReplica();
  const [{ key, subject }, innocent] = [await gateway.newKey(), await gateway.newKey()];
  // A budget of 3 s is overdrawn by a minute: no busy machine waits for so long between two requests.
  costs(31_800, 31_800, 10);
  expect((await detect(key)).status).toBe(201);
  const refused = await detect(key, other.url);
  expect(refusal(refused)).toEqual([429, 'OP-QUOTA-RATE-LIMITED', 'processor_time_exceeded']);
  const waitS = Number(refused.headers.get('retry-after'));
  expect(waitS).toBeGreaterThan(30);
  expect(waitS).toBeLessThanOrEqual(61);
  expect((await detect(innocent.key, other.url)).status).toBe(201);
  const passS = (seconds: number) => gateway.redis.hincrbyfloat(`processor:${subject}`, 'at', -1000 * seconds);
  await passS(waitS - 30);
  expect(isOverdrawn(await detect(key, other.url))).toBe(true);
  costs(0);
  await passS(30);
  expect((await detect(key, other.url)).status).toBe(201);
});

test('only images are refused: everything else of the subject goes on', async () => {
  const { key } = await gateway.newKey();
  costs(60_000);
  await detect(key);
  expect((await detect(key)).status).toBe(429);
  const { status } = await exchange(`${gateway.url}/api/op/v1/scenes`, 'GET', { headers: bearer(key) });
  expect(status).toBe(200);
});

test('an uploaded video is charged like an image, and the uploads of an overdrawn subject are refused', async () => {
  const { key } = await gateway.newKey();
  const upload = () => exchange(`${gateway.url}/v1/vision/video-tasks`, 'POST', { headers: bearer(key), body: 'x' });
  costs(60_000);
  expect((await upload()).headers.get(processorTimeHeader)).toBeNull();
  expect(refusal(await upload())).toEqual([429, 'OP-QUOTA-RATE-LIMITED', 'processor_time_exceeded']);
  expect((await detect(key)).status).toBe(429);
});

test('a client that leaves before its answer pays, and keeps its place until the work is done', async () => {
  const { key } = await gateway.newKey({ image_calls: 1 });
  const arrived = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  gateway.upstream.answer = (req, res) => {
    req.resume().once('end', () => {
      arrived.resolve();
      void finish.promise.then(() => res.writeHead(201, { [processorTimeHeader]: '60000' }).end('{}'));
    });
  };
  const leaving = new AbortController();
  const left = detect(key, gateway.url, leaving.signal).catch(() => 'left');
  await arrived.promise;
  leaving.abort();
  expect(await left).toBe('left');
  expect(refusal(await detect(key))).toEqual([429, 'OP-QUOTA-RATE-LIMITED', 'too_many_in_flight']);
  costs(0);
  finish.resolve();
  await until(async () => isOverdrawn(await detect(key)));
});

const isOverdrawn = (answer: Awaited<ReturnType<typeof detect>>) => refusal(answer)[2] === 'processor_time_exceeded';

test('while Redis is unavailable a replica holds the budget by itself', async () => {
  const alone = await gateway.addReplica({ REDIS_URL: `redis://127.0.0.1:${await freePort()}` });
  const { key } = await gateway.newKey();
  costs(60_000);
  expect((await detect(key, alone.url)).status).toBe(201);
  expect(refusal(await detect(key, alone.url))).toEqual([429, 'OP-QUOTA-RATE-LIMITED', 'processor_time_exceeded']);
});
