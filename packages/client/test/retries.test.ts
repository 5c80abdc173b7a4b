import { afterEach, expect, test } from '@jest/globals';
import { createVisionClient, VisionError } from '@vision/client';
import { broken, brokenBody, json, problem, startScriptedService } from './scripted-service.ts';
import type { Reply, ScriptedService } from './scripted-service.ts';

let service: ScriptedService;
afterEach(() => service.stop());

const stream = { scene_code: 'ship', stream_url: 'rtsp://camera.example.org/1' };

async function start(replies: Reply[], maxRetryMs = 30_000) {
  service = await startScriptedService(...replies);
  return createVisionClient({ baseUrl: service.url, apiKey: 'vk_1', maxRetryMs });
}

const keys = () => service.received.map(({ headers }) => headers['idempotency-key']);
const refusalOf = async (call: Promise<unknown>) => {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof VisionError ? error.problem.details.reason : error;
};

test.each([
  ['a connection that breaks', broken],
  ['a body that breaks', brokenBody],
  ['429', problem(429, 'too_many_requests', { retryAfter: '0' })],
  ['503', problem(503, 'maintenance', { retryAfter: '0' })],
  ['503 without Retry-After', problem(503, 'maintenance')],
  ['a proxy that has no service', (res) => void res.writeHead(502).end('<html>')],
] as [string, Reply][])('after %s a create request is repeated under the same key', async (_name, reply) => {
  const client = await start([reply, reply, json(201, { task_id: 'one', status: 'running' })]);
  expect(await client.watchStream(stream, { client_ref: 'gate' })).toMatchObject({ task_id: 'one' });
  expect(keys()).toHaveLength(3);
  expect(new Set(keys()).size).toBe(1);
  expect(keys()[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(service.received.map(({ url, body }) => [url, JSON.parse(body.toString()) as unknown])).toEqual(
    Array.from({ length: 3 }, () => ['/v1/vision/tasks?client_ref=gate', stream]),
  );
});

test.each([400, 401, 403, 404, 409, 413, 500])('%d is never repeated', async (status) => {
  const client = await start([problem(status, 'some_reason', { retryAfter: '0' })]);
  expect(await refusalOf(client.watchStream(stream))).toBe('some_reason');
  expect(service.received).toHaveLength(1);
});

test('a 503 that no repetition changes is not repeated', async () => {
  const client = await start([problem(503, 'links_not_configured', { retryable: false })]);
  expect(await refusalOf(client.watchStream(stream))).toBe('links_not_configured');
  expect(service.received).toHaveLength(1);
});

test('Retry-After is waited for entirely', async () => {
  const client = await start([problem(429, 'too_many_requests', { retryAfter: '1' }), json(200, { task_id: 'one' })]);
  const startedAt = performance.now();
  await client.task('one');
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(995);
});

test('a Retry-After beyond the limit of retries is refused at once', async () => {
  const client = await start([problem(429, 'daily_quota_exhausted', { retryAfter: '3600' })]);
  expect(await refusalOf(client.watchStream(stream))).toBe('daily_quota_exhausted');
  expect(service.received).toHaveLength(1);
});

test('an answer that has no problem document is an error with one', async () => {
  const client = await start([(res) => void res.writeHead(404, { 'x-request-id': 'r' }).end('<html>')]);
  const refused = client.task('one');
  await expect(refused).rejects.toMatchObject({
    problem: { status: 404, instance: 'urn:request:r', details: { reason: 'not_from_service' }, retryable: false },
  });
});

test.each([
  ['no details', { details: null, retryable: false }],
  ['details without a reason', { details: {}, retryable: false }],
  ['another form', { details: { reason: 7 }, retryable: 'no' }],
])('an answer with a problem document of %s is an error with a whole one', async (_name, body) => {
  const client = await start([json(400, body)]);
  expect(await refusalOf(client.task('one'))).toBe('not_from_service');
  expect(await refusalOf(client.frames('one').next())).toBe('not_from_service');
  expect(service.received).toHaveLength(2);
});

test('a service that cannot be reached is given up after the limit', async () => {
  const client = await start([broken], 3_000);
  const error = await refusalOf(client.task('one'));
  expect(error).toMatchObject({ name: 'TypeError' });
  expect(service.received.length).toBeGreaterThan(1);
});

test('a caller that leaves ends retries and waits', async () => {
  const client = await start([problem(503, 'maintenance', { retryAfter: '20' })]);
  const controller = new AbortController();
  const waiting = client.watchStream(stream, { signal: controller.signal });
  const refused = expect(waiting).rejects.toThrow('left');
  controller.abort(new Error('left'));
  await refused;
});

test('a form is encoded anew for each attempt, with and without progress', async () => {
  const file = new File([new Uint8Array(300_000).fill(7)], 'a "b".mp4', { type: 'video/mp4' });
  const client = await start([broken, json(201, { task_id: 'one' }), broken, json(201, { task_id: 'two' })]);
  await client.uploadVideo(file, { scene_code: 'ship', client_ref: 'gate' });
  const progress: { sentBytes: number; totalBytes: number }[] = [];
  await client.uploadVideo(file, { scene_code: 'ship', onProgress: (each) => progress.push(each) });
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated for servers; these forms are small and ours
  const formOf = (sent: Response) => sent.formData();
  const forms = await Promise.all(
    service.received.map(({ headers, body }) =>
      formOf(new Response(new Uint8Array(body), { headers: { 'content-type': headers['content-type'] ?? '' } })),
    ),
  );
  for (const form of forms) {
    const sent = form.get('file') as File;
    expect([form.get('scene_code'), sent.name, sent.type, sent.size]).toEqual([
      'ship',
      'a "b".mp4',
      'video/mp4',
      300_000,
    ]);
    expect([...form.keys()]).toEqual(['scene_code', 'file']);
  }
  const lengths = service.received.map(({ headers, body }) => [Number(headers['content-length']), body.length]);
  expect(lengths.every(([told, sent]) => told === sent)).toBe(true);
  expect(service.received.map(({ url }) => url.split('?')[1])).toEqual([
    'client_ref=gate',
    'client_ref=gate',
    undefined,
    undefined,
  ]);
  const { totalBytes = 0 } = progress[0] ?? {};
  expect(totalBytes).toBe(lengths[2]?.[0]);
  expect(progress.at(-1)).toEqual({ sentBytes: totalBytes, totalBytes });
  expect(progress.length).toBeGreaterThan(3);
});

test('waitFor polls until the task has ended', async () => {
  const client = await start(['running', 'stopping', 'stopped'].map((status) => json(200, { task_id: 'one', status })));
  expect(await client.waitFor({ task_id: 'one' })).toMatchObject({ status: 'stopped' });
  expect(service.received).toHaveLength(3);
});
