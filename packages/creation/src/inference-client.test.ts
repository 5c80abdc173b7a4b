import { afterEach, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@vision/shared/testing/until';
import { createInferenceClient } from './inference-client.ts';
import type { InferenceClient } from './inference-client.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const newJob = {
  job_id: 'a',
  scene_code: 'ship',
  lower_bound: 0.3,
  source: { kind: 'object', bucket: 'b', key: 'k' },
} as const;
const image = {
  owner: 'subject-a',
  sceneCode: 'ship',
  minScore: 0.3,
  picture: Buffer.from('x'),
  contentType: 'image/png',
} as const;

async function clientTo(
  answer: (req: IncomingMessage, res: ServerResponse) => void,
  timeoutMs?: number,
): Promise<InferenceClient> {
  const server: Server = createServer((req, res) => {
    req.resume();
    answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return clientAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutMs);
}

function clientAt(baseUrl: string | undefined, timeoutMs = 2_000): InferenceClient {
  const client = createInferenceClient({
    baseUrl,
    token: 'secret',
    breakerResetMs: 60_000,
    submitTimeoutMs: timeoutMs,
    detectTimeoutMs: timeoutMs,
  });
  open.push(client.close);
  return client;
}

const json = (status: number, body: unknown) => (_req: IncomingMessage, res: ServerResponse) =>
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

test.each([
  ['201 with the job', json(201, { job_id: 'a', status: 'queued', frames_published: 0 }), 'accepted'],
  ['200 with the job', json(200, { job_id: 'a', status: 'running', frames_published: 3 }), 'accepted'],
  ['200 with another job', json(200, { job_id: 'b', status: 'running', frames_published: 0 }), 'unknown'],
  ['202 with the job', json(202, { job_id: 'a', status: 'queued', frames_published: 0 }), 'unknown'],
  ['201 without the contract', json(201, { ok: true }), 'unknown'],
  ['409 with a refusal', json(409, { reason: 'other content' }), 'refused'],
  ['422 with a refusal', json(422, { reason: 'no video track' }), 'refused'],
  ['422 of somebody else', json(422, { detail: 'no' }), 'unknown'],
  ['503 with a refusal', json(503, { reason: 'no capacity' }), 'not_created'],
  ['503 of a proxy', json(503, '<html>'), 'unknown'],
  ['400', json(400, { reason: 'bad' }), 'unknown'],
  ['404', json(404, {}), 'unknown'],
  ['500', json(500, {}), 'unknown'],
  ['a reset', (req: IncomingMessage) => req.socket.destroy(), 'unknown'],
  ['silence', () => undefined, 'unknown'],
])('a submission answered by %s is classified', async (_name, answer, outcome) => {
  const client = await clientTo(answer);
  expect((await client.submitJob(newJob)).outcome).toBe(outcome);
});

test.each<[string, string | undefined, number]>([
  ['what it says', '1700', 1700],
  ['nothing when it does not say', undefined, 0],
  ['nothing when it makes no sense', 'much', 0],
])('the processor time of a submit is %s', async (_name, told, processorMs) => {
  const client = await clientTo((_req, res) => {
    const headers = told === undefined ? {} : { 'x-processor-time-ms': told };
    res.writeHead(422, headers).end(JSON.stringify({ reason: 'unreadable' }));
  });
  expect(await client.submitJob(newJob)).toEqual({ outcome: 'refused', reason: 'unreadable', processorMs });
});

test('a closed port surely created nothing: the backend is down', async () => {
  const outcome = await clientAt('http://127.0.0.1:1').submitJob(newJob);
  expect(outcome).toMatchObject({ outcome: 'not_created', error: { code: 'OP-TASK-UPSTREAM-DOWN' } });
});

test.each([undefined, 'http://inference.invalid'])('a backend at %s is not wired up', async (baseUrl) => {
  const client = clientAt(baseUrl);
  const unavailable = { code: 'OP-SYS-UNAVAILABLE' };
  expect(await client.submitJob(newJob)).toMatchObject({ outcome: 'not_created', error: unavailable });
  await expect(client.detect(image)).rejects.toMatchObject(unavailable);
  for (let index = 0; index < 12; index += 1) {
    await expect(client.readJobs(['a'])).rejects.toMatchObject(unavailable);
  }
});

test('refusals never open the breaker, failures do, and then nothing is sent', async () => {
  let mode = json(422, { reason: 'no' });
  let calls = 0;
  const client = await clientTo((req, res) => {
    calls += 1;
    mode(req, res);
  });
  for (let index = 0; index < 20; index += 1) await client.submitJob(newJob);
  mode = json(503, { reason: 'no capacity' });
  for (let index = 0; index < 20; index += 1) await client.submitJob(newJob);
  client.assertAccepting('submit');
  mode = json(500, {});
  for (let index = 0; index < 10; index += 1) await client.submitJob(newJob);
  expect(() => client.assertAccepting('submit')).toThrow();
  const outcome = await client.submitJob(newJob);
  expect(outcome).toMatchObject({ outcome: 'not_created', error: { code: 'OP-TASK-BREAKER-OPEN' } });
  expect(calls).toBe(50);
  client.assertAccepting('detect');
});

test('an image the backend cannot decode is the fault of the image and does not open the breaker', async () => {
  const client = await clientTo(json(422, { reason: 'not an image' }));
  for (let index = 0; index < 12; index += 1) {
    const error = { reason: 'image_unreadable', kind: 'invalid' };
    expect(await client.detect(image)).toMatchObject({ outcome: 'unreadable', error });
  }
  client.assertAccepting('detect');
});

test('a backend without capacity for an image fails the image and does not open the breaker', async () => {
  const client = await clientTo(json(503, { reason: 'saturated' }));
  for (let index = 0; index < 20; index += 1) {
    await expect(client.detect(image)).rejects.toMatchObject({ code: 'OP-TASK-UPSTREAM-DOWN' });
  }
  client.assertAccepting('detect');
});

test('a backend that cannot work fails the image and opens the breaker of detect only', async () => {
  const client = await clientTo(json(503, { reason: 'no_model' }));
  for (let index = 0; index < 10; index += 1) {
    await expect(client.detect(image)).rejects.toMatchObject({ code: 'OP-TASK-UPSTREAM-DOWN' });
  }
  await expect(client.detect(image)).rejects.toMatchObject({ code: 'OP-TASK-BREAKER-OPEN' });
  client.assertAccepting('submit');
});

test('a call that is given up takes no other along, neither beside it nor after it', async () => {
  const waiting: ServerResponse[] = [];
  const detection = { image: { width: 1, height: 1 }, objects: [] };
  const client = await clientTo((_req, res) => waiting.push(res), 20_000);
  const controller = new AbortController();
  const givenUp = client.detect({ ...image, signal: controller.signal });
  await until(() => waiting.length === 1);
  const others = [client.detect(image), client.detect(image)];
  await until(() => waiting.length === 3);
  controller.abort(new Error('given up'));
  await expect(givenUp).rejects.toThrow('given up');
  others.push(client.detect(image));
  await until(() => waiting.length === 4);
  for (const res of waiting) json(200, detection)(res.req, res);
  expect(await Promise.all(others)).toEqual(Array(3).fill({ outcome: 'detected', detection, processorMs: 0 }));
});

test('a client that leaves ends the call with its own reason and does not count', async () => {
  const client = await clientTo(() => undefined);
  for (let index = 0; index < 11; index += 1) {
    const controller = new AbortController();
    const gone = Object.assign(new Error('gone'), { name: 'ClientGoneError' });
    const detecting = client.detect({ ...image, signal: controller.signal });
    controller.abort(gone);
    await expect(detecting).rejects.toBe(gone);
  }
  client.assertAccepting('detect');
});

test('jobs are read in one request with the token, and stopped by id', async () => {
  const seen: string[] = [];
  const client = await clientTo((req, res) => {
    seen.push(`${req.method ?? ''} ${req.url ?? ''} ${req.headers.authorization ?? ''}`);
    const one = { job_id: 'a', status: 'stopped', frames_published: 1 };
    json(200, req.method === 'GET' ? { jobs: [one] } : one)(req, res);
  });
  expect(await client.readJobs(['a', 'b'])).toHaveLength(1);
  expect(await client.stopJob('a')).toMatchObject({ job: { status: 'stopped' }, wasLive: false });
  expect(seen).toEqual(['GET /v1/jobs?ids=a,b Bearer secret', 'POST /v1/jobs/a/stop Bearer secret']);
});

test('a backend that does not know the question for its capacity tells none; nonsense is no answer', async () => {
  const capacity = { free: { stream: 1, object: 2 }, places: { stream: 3, object: 13 } };
  expect(await (await clientTo(json(200, capacity))).readCapacity(2_000)).toEqual(capacity);
  expect(await (await clientTo(json(404, { reason: 'unknown_path' }))).readCapacity(2_000)).toBeUndefined();
  const strange = await clientTo(json(200, { free: 'all' }));
  await expect(strange.readCapacity(2_000)).rejects.toMatchObject({ kind: 'unavailable' });
});

test('answers about capacity do not hide that submissions fail; silence counts as a failed submission', async () => {
  const capacity = { free: { stream: 1, object: 2 }, places: { stream: 3, object: 13 } };
  const failing = await clientTo((req, res) =>
    req.method === 'GET' ? json(200, capacity)(req, res) : json(500, {})(req, res),
  );
  for (let index = 0; index < 10; index += 1) {
    expect(await failing.readCapacity(2_000)).toEqual(capacity);
    expect((await failing.submitJob(newJob)).outcome).toBe('unknown');
  }
  expect(() => failing.assertAccepting('submit')).toThrow();
  const silent = await clientTo(() => undefined);
  for (let index = 0; index < 10; index += 1) {
    await expect(silent.readCapacity(20)).rejects.toMatchObject({ reason: 'inference_unreachable' });
  }
  expect(() => silent.assertAccepting('submit')).toThrow();
});
