import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { NewStreamProbe, StreamProbeReply } from '@vision/contracts/inference';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks } from './support/system.ts';
import type { CallOptions, TestTasks, World } from './support/system.ts';

let world: World;
let tasks: TestTasks;
const probes: NewStreamProbe[] = [];
const objects = [
  { label: 'person', score: 0.9, bbox: { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.2, height: 0.4 } },
] as const;
const seen: StreamProbeReply = {
  codec: 'h264',
  image: { width: 1920, height: 1080 },
  fps: 25,
  snapshot: { media_type: 'image/jpeg', data: Buffer.from('canary frame').toString('base64') },
};

/** Sets the answer of the backend to probes, its features and its free slots for streams. */
function answers(body: unknown = seen, { status = 200, free = 3, features = ['stream_probes'] } = {}): void {
  world.backend.capacity = () => ({ free: { stream: free, object: 9 }, places: { stream: 9, object: 9 }, features });
  world.backend.onProbe = (probe) => {
    probes.push(probe);
    return { status, body };
  };
}

/** A peer that answers the handshake of RTSP. */
const rtsp = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.on('data', (asked) => {
    const [, cseq = '0'] = /CSeq: (\d+)/.exec(asked.toString()) ?? [];
    socket.write(`RTSP/1.0 401 Unauthorized\r\nCSeq: ${cseq}\r\n\r\n`);
  });
});
const rtspUrl = () => `rtsp://127.0.0.1:${(rtsp.address() as AddressInfo).port}/cam`;

beforeAll(async () => {
  await new Promise<void>((resolve) => rtsp.listen(0, '127.0.0.1', resolve));
  world = await createWorld({ STREAM_PROBES_PER_MINUTE: '100000' });
  tasks = await startTasks(world);
});
afterEach(() => {
  world.backend.capacity = undefined;
  world.backend.onProbe = undefined;
  world.backend.probeMs = 0;
  probes.length = 0;
});
afterAll(async () => {
  await tasks.stop();
  await world.close();
  rtsp.close();
});

const probe = (body: object = {}, options: CallOptions = {}, service = tasks) =>
  service.call('POST', '/v1/vision/stream-probes', {
    subject: randomUUID(),
    body: { stream_url: world.stream.url, ...body },
    ...options,
  });

test('a probe returns the answer of the backend, and stores neither a task, a unit nor the frame', async () => {
  answers({ ...seen, objects });
  world.backend.probeMs = 321;
  const subject = randomUUID();
  const { status, headers, body } = await probe({ scene_code: 'person_vehicle' }, { subject });
  expect([status, body]).toEqual([200, { ...seen, objects, capacity: 'available' }]);
  expect([headers.get('x-processor-time-ms'), headers.get('cache-control')]).toEqual(['321', 'no-store']);
  expect(probes).toMatchObject([
    {
      url: world.stream.url,
      pinned_address: '127.0.0.1',
      scene_code: 'person_vehicle',
      min_score: 0.8,
      snapshot: true,
    },
  ]);
  expect(await world.database.db('tasks').where({ subject })).toEqual([]);
  expect(await world.quota.used(subject)).toBe(0);
  expect(tasks.log()).not.toContain(Buffer.from('canary frame').toString('base64'));
});

test('without a free slot for streams the capacity is `none`, but the stream is read', async () => {
  answers(seen, { free: 0 });
  // Capacity answers are shared for a second.
  const full = await until(async () => {
    const { body } = await probe();
    return body['capacity'] === 'none' ? body : undefined;
  });
  expect(full).toEqual({ ...seen, capacity: 'none' });
});

test('an operator can disable the frame: it is not requested from the backend', async () => {
  answers();
  const withoutFrames = await startTasks(world, { PROBE_SNAPSHOTS: 'false' });
  await probe({}, {}, withoutFrames);
  expect(probes).toMatchObject([{ snapshot: false }]);
  await withoutFrames.stop();
});

test.each([
  ['credentials over RTSP', 'auth_failed'],
  ['a codec', 'codec_unsupported'],
  ['sound alone', 'no_video_track'],
])('a problem of the peer with %s is returned with advice', async (_name, reason) => {
  answers({ problem: { reason } });
  const { body } = await probe({ stream_url: reason === 'auth_failed' ? rtspUrl() : world.stream.url });
  expect(body).toEqual({ capacity: 'available', problem: { reason, advice: expect.any(String) as unknown } });
});

test('details of the network are reported as no_frame and answered late', async () => {
  const quick = await startTasks(world, { PROBE_TOTAL_MS: '10000' });
  answers();
  const reasons = ['10.0.0.1 refused', 'auth_failed', 'no_frame'];
  world.backend.onProbe = ({ url }) => {
    const reason = reasons[Number(url.at(-1))];
    return { status: 200, body: { problem: { reason } } };
  };
  const asked = reasons.map(async (_reason, at) => {
    const startedAt = performance.now();
    const { status, body } = await probe({ stream_url: `${world.stream.url}?${at}` }, {}, quick);
    expect([status, body['problem']]).toMatchObject([200, { reason: 'no_frame' }]);
    // Failures of the handshake are answered in the last fifth of the time.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(7_990);
  });
  await Promise.all(asked);
  await quick.stop();
});

test.each([
  ['has no probes', () => answers(seen, { features: [] }), false],
  ['is replaced by one without probes', () => answers({}, { status: 404 }), true],
  ['does not tell its capacity', () => undefined, false],
])('with a backend that %s the answer has no frame', async (_name, prepare, isAsked) => {
  const fresh = await startTasks(world);
  prepare();
  const { status, body } = await probe({}, {}, fresh);
  expect([status, body]).toMatchObject([200, { problem: { reason: 'not_supported' } }]);
  expect(body).not.toHaveProperty('snapshot');
  expect(probes.length > 0).toBe(isAsked);
  await fresh.stop();
});

test('an unreachable stream is refused like in a create request, without a call to the backend', async () => {
  answers();
  const quick = await startTasks(world, { PROBE_CONNECT_MS: '200', PROBE_TOTAL_MS: '400' });
  const [created, probed] = await Promise.all([
    quick.create({ subject: randomUUID(), url: 'rtsp://127.0.0.1:1/' }),
    probe({ stream_url: 'rtsp://127.0.0.1:1/' }, {}, quick),
  ]);
  const wordsOf = ({ instance: _i, trace_id: _t, ...words }: Record<string, unknown>) => words;
  expect([probed.status, wordsOf(probed.body)]).toEqual([created.status, wordsOf(created.body)]);
  expect(probed.body).toMatchObject({ details: { reason: 'stream_unreachable' } });
  expect(probes).toEqual([]);
  await quick.stop();
});

test.each([
  ['an address that is not allowed', { stream_url: 'rtsp://8.8.8.8:22/' }, 'stream_url_invalid'],
  ['no address', { stream_url: undefined }, 'stream_url_invalid'],
  ['a field that is not known', { colour: 'red' }, 'unknown_field'],
  ['a scene that is no text', { scene_code: 7 }, 'scene_code_invalid'],
  ['a scene that does not exist', { scene_code: 'no_such_scene' }, 'scene_unavailable'],
])('a request with %s is refused before any connection', async (_name, body, reason) => {
  answers();
  const answer = await probe(body);
  expect([answer.status, answer.body.details]).toMatchObject([400, { reason }]);
  expect(probes).toEqual([]);
});

test('maintenance refuses probes like create requests', async () => {
  const { status, body } = await probe({}, { maintenance: { reason: 'upgrade' } });
  expect([status, body.details]).toMatchObject([503, { reason: 'maintenance' }]);
});

test('with an open breaker of submissions no probe begins', async () => {
  answers();
  const impatient = await startTasks(world, { BREAKER_RESET_MS: '100000' });
  world.backend.onSubmit = () => 'drop';
  const broken = async () => (await impatient.create({ subject: randomUUID() })).body.code === 'OP-TASK-BREAKER-OPEN';
  while (!(await broken()));
  const { status, body } = await probe({}, {}, impatient);
  expect([status, body.code]).toEqual([503, 'OP-TASK-BREAKER-OPEN']);
  expect(probes).toEqual([]);
  world.backend.onSubmit = () => 'accept';
  await impatient.stop();
});

test('a busy or failing backend is reported, and opens no breaker of create requests', async () => {
  answers({ reason: 'saturated' }, { status: 503 });
  expect((await probe()).body).toMatchObject({ details: { reason: 'stream_probes_saturated' } });
  answers({ strange: true, fps: 'many' });
  expect((await probe()).body).toMatchObject({ details: { reason: 'inference_answer_unexpected' } });
  expect((await tasks.create({ subject: randomUUID() })).status).toBe(201);
});

test('limits the probes of a subject per minute, together with those of create requests; others are not affected', async () => {
  answers();
  const limited = await startTasks(world, { STREAM_PROBES_PER_MINUTE: '2', PROBES_PER_MINUTE: '3' });
  const subject = randomUUID();
  const ask = () => probe({}, { subject }, limited);
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
  const third = await ask();
  expect([third.status, third.body.details]).toMatchObject([429, { reason: 'probe_rate' }]);
  expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(1);
  expect((await probe({}, {}, limited)).status).toBe(200);
  expect((await limited.create({ subject })).status).toBe(201);
  expect((await limited.create({ subject })).status).toBe(429);
  await limited.stop();
});
