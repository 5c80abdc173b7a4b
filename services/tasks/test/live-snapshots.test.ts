import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { NewJob, NewStreamProbe } from '@vision/contracts/inference';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { CallOptions, TestTasks, World } from './support/system.ts';
import { mp4, upload } from './support/videos.ts';

const jpeg = Buffer.from('ffd8ffe000104a464946', 'hex');
const frame = { frame_time_ms: 1773563400000, width: 8, height: 4, media_type: 'image/jpeg' };
let world: World;
let tasks: TestTasks;

beforeAll(async () => {
  world = await createWorld();
  tasks = await startTasks(world);
});
afterAll(async () => {
  await tasks.stop();
  await world.close();
});
beforeEach(() => {
  const free = { stream: 50, object: 50 };
  world.backend.capacity = () => ({ free, places: free, features: ['snapshots'] });
  world.backend.onSnapshot = () => ({ status: 200, body: { ...frame, data: jpeg.toString('base64') } });
});

async function created(query: string, options: CallOptions = {}, service = tasks): Promise<string> {
  const body = { scene_code: 'person_vehicle', stream_url: world.stream.url };
  const limits = { active_tasks: 100, video_tasks_per_day: 1000 };
  const call = { key: randomUUID(), body, limits, subject: 'subject-a', ...options };
  const answer = await service.call('POST', `/v1/vision/tasks${query}`, call);
  expect(answer.status).toBe(201);
  return answer.body.task_id;
}
const jobOf = (taskId: string) => world.backend.jobs.get(taskId)?.request as NewJob;
const ask = (taskId: string, options: CallOptions = {}) =>
  tasks.call('GET', `/v1/vision/tasks/${taskId}/live-snapshot`, options);
const refused = async (taskId: string, options: CallOptions = {}) => {
  const { status, body } = await ask(taskId, options);
  return [status, body.details?.['reason']];
};

test('returns the newest frame as an image without storing it', async () => {
  const taskId = await created('?snapshots=tracks');
  const answer = await ask(taskId);
  expect(answer.status).toBe(200);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'image/jpeg',
    'content-length': String(jpeg.length),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-time-ms': '1773563400000',
  });
  expect(answer.bytes.equals(jpeg)).toBe(true);
});

test.each<[string, string, CallOptions['snapshots'], 'tracks' | undefined]>([
  ['the request over the setting', '?snapshots=tracks', 'off', 'tracks'],
  ['the request over the setting, to none', '?snapshots=off', 'tracks', undefined],
  ['the setting', '', 'tracks', 'tracks'],
  ['neither', '', undefined, undefined],
])('a task keeps the setting of its creation: %s', async (_name, query, snapshots, sent) => {
  const taskId = await created(query, { snapshots });
  expect(jobOf(taskId).snapshots).toBe(sent);
  expect((await storedTasks(world, { task_id: taskId }))[0]).toMatchObject({ snapshots: sent ?? 'off' });
  const expected = sent ? [200, undefined] : [404, 'snapshots_off'];
  // A later setting does not change the task.
  expect(await refused(taskId, { snapshots: sent ? 'off' : 'tracks' })).toEqual(expected);
});

test('no images are requested for a scene that disables them, with any settings of the caller', async () => {
  const registry = new URL('../../../config/scenes.json', import.meta.url);
  const scenes = JSON.parse(await readFile(registry, 'utf8')) as { scenes: { scene_code: string }[] };
  const changed = scenes.scenes.map((one) =>
    one.scene_code === 'person_vehicle' ? { ...one, snapshots: 'off' } : one,
  );
  const directory = await mkdtemp(join(tmpdir(), 'vision-scenes-'));
  const SCENES_FILE = join(directory, 'scenes.json');
  await writeFile(SCENES_FILE, JSON.stringify({ ...scenes, scenes: changed }));
  // Set before the first create request, which would cache an answer without the feature.
  const free = { stream: 9, object: 9 };
  world.backend.capacity = () => ({ free, places: free, features: ['stream_probes'] });
  const service = await startTasks(world, { SCENES_FILE });
  const taskId = await created('?snapshots=tracks', {}, service);
  expect(Object.keys(jobOf(taskId))).not.toContain('snapshots');
  expect((await storedTasks(world, { task_id: taskId }))[0]).toMatchObject({ snapshots: 'off' });
  expect(await refused(taskId)).toEqual([404, 'snapshots_off']);
  const told = await world.database
    .db('outbox')
    .where({ key: taskId })
    .orderBy('id')
    .select<{ payload: object }[]>('payload');
  expect(told.at(-1)?.payload).toMatchObject({ snapshots: 'off' });
  const probes: NewStreamProbe[] = [];
  world.backend.onProbe = (probe) => {
    probes.push(probe);
    return { status: 200, body: { codec: 'h264', image: { width: 8, height: 4 }, fps: 25 } };
  };
  for (const scene_code of ['person_vehicle', 'ship']) {
    const body = { stream_url: world.stream.url, scene_code };
    expect((await service.call('POST', '/v1/vision/stream-probes', { subject: 'subject-a', body })).status).toBe(200);
  }
  world.backend.onProbe = undefined;
  expect(probes).toMatchObject([{ snapshot: false }, { snapshot: true }]);
  await service.stop();
  await rm(directory, { recursive: true });
});

test('a backend without the feature gets no snapshot setting, and is not queried for snapshots', async () => {
  world.backend.capacity = undefined;
  world.backend.onSnapshot = undefined;
  // The other replica caches the features for a second.
  const service = await startTasks(world);
  const taskId = await created('?snapshots=tracks', {}, service);
  expect(Object.keys(jobOf(taskId))).not.toContain('snapshots');
  expect(await refused(taskId)).toEqual([404, 'not_supported']);
  await service.stop();
});

test.each<[string, { status: number; body: unknown }, unknown[]]>([
  ['no frame in time', { status: 404, body: { reason: 'snapshot_not_yet' } }, [404, 'snapshot_not_yet']],
  ['a job without snapshots', { status: 404, body: { reason: 'snapshots_off' } }, [404, 'not_supported']],
  ['a page', { status: 200, body: '<html>' }, [503, 'inference_answer_unexpected']],
  [
    'an image that is none',
    { status: 200, body: { ...frame, data: Buffer.from('<script>').toString('base64') } },
    [503, 'inference_answer_unexpected'],
  ],
  ['text that is no base64', { status: 200, body: { ...frame, data: '/9j*' } }, [503, 'inference_answer_unexpected']],
  [
    'another type',
    { status: 200, body: { ...frame, media_type: 'text/html', data: '' } },
    [503, 'inference_answer_unexpected'],
  ],
  ['a fault', { status: 500, body: {} }, [503, 'inference_answer_unexpected']],
])('a backend that answers with %s', async (_name, answer, expected) => {
  const taskId = await created('?snapshots=tracks');
  world.backend.onSnapshot = () => answer;
  expect(await refused(taskId)).toEqual(expected);
});

test('foreign, unknown, uploaded and ended tasks return no newest frame', async () => {
  const taskId = await created('?snapshots=tracks');
  expect(await refused(taskId, { subject: 'subject-b' })).toEqual([404, 'task_not_found']);
  expect(await refused(randomUUID())).toEqual([404, 'task_not_found']);
  const parts = [
    { name: 'scene_code', value: 'ship' },
    { name: 'file', file: mp4(3000, 7) },
  ];
  const limits = { active_tasks: 100, video_tasks_per_day: 1000 };
  const uploaded = await upload({ port: tasks.port, key: randomUUID(), parts, limits });
  expect(await refused(uploaded.body.task_id)).toEqual([400, 'not_a_stream']);
  world.backend.end(taskId, 'succeeded');
  await until(async () => (await tasks.call('GET', `/v1/vision/tasks/${taskId}`)).body.status !== 'running');
  await until(async () => (await refused(taskId))[1] === 'snapshot_none');
});

test('the parameter is part of the request that a key identifies', async () => {
  const key = randomUUID();
  const taskId = await created('?snapshots=tracks', { key });
  const body = { scene_code: 'person_vehicle', stream_url: world.stream.url };
  const again = (query: string) => tasks.call('POST', `/v1/vision/tasks${query}`, { key, body });
  expect((await again('?snapshots=tracks')).body.task_id).toBe(taskId);
  for (const query of ['', '?snapshots=off'])
    expect((await again(query)).body.details).toMatchObject({ reason: 'idempotency_key_reused' });
  for (const query of ['?snapshots=all', '?snapshots=', '?snapshots=off&snapshots=off'])
    expect((await again(query)).body.details).toMatchObject({ reason: 'query_invalid' });
});
