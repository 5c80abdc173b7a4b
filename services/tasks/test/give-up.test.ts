import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { NewJob } from '@vision/contracts/inference';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

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
  offer(['snapshots', 'give_up']);
  world.backend.onSubmit = () => 'accept';
});

function offer(features: string[]): void {
  const free = { stream: 50, object: 50 };
  world.backend.capacity = () => ({ free, places: free, features });
}
const create = (query: string, key: string = randomUUID(), service = tasks) => {
  const body = { scene_code: 'person_vehicle', stream_url: world.stream.url };
  const limits = { active_tasks: 100, video_tasks_per_day: 1000 };
  return service.call('POST', `/v1/vision/tasks${query}`, { key, body, limits, subject: 'subject-a' });
};
const jobOf = (taskId: string) => world.backend.jobs.get(taskId)?.request as NewJob;

test('the backend gets the time of the caller, and the task keeps it', async () => {
  const { status, body } = await create('?give_up_after_s=86400');
  expect(status).toBe(201);
  expect(jobOf(body.task_id)).toMatchObject({ give_up_after_s: 86_400 });
  expect((await storedTasks(world, { task_id: body.task_id }))[0]).toMatchObject({ give_up_after_s: 86_400 });
  const without = await create('');
  expect(Object.keys(jobOf(without.body.task_id))).not.toContain('give_up_after_s');
  expect((await storedTasks(world, { task_id: without.body.task_id }))[0]).toMatchObject({ give_up_after_s: null });
});

test('the time is part of the request that a key identifies', async () => {
  const key = randomUUID();
  const first = await create('?give_up_after_s=3600', key);
  const again = await create('?give_up_after_s=3600', key);
  expect([again.status, again.body.task_id]).toEqual([200, first.body.task_id]);
  for (const query of ['', '?give_up_after_s=3601'])
    expect((await create(query, key)).body.details).toMatchObject({ reason: 'idempotency_key_reused' });
});

test.each(['59', '86401', '60.5', '-60', '', 'x', '1e999', '0x3c', ' 60', 'NaN', '60&give_up_after_s=60'])(
  'refuses give_up_after_s=%s and charges nothing',
  async (given) => {
    const jobs = world.backend.jobs.size;
    const { status, body } = await create(`?give_up_after_s=${given}`);
    expect([status, body.code]).toEqual([400, 'OP-TASK-REQUEST-INVALID']);
    expect(body.details).toMatchObject({ reason: 'query_invalid', field: 'give_up_after_s' });
    expect(world.backend.jobs.size).toBe(jobs);
  },
);

test('uploads do not accept the time', async () => {
  const { status, body } = await tasks.call('POST', '/v1/vision/video-tasks?give_up_after_s=600', {
    key: randomUUID(),
  });
  expect(status).toBe(400);
  expect(body.details).toMatchObject({ reason: 'unknown_field' });
});

test('a backend that does not name the feature is not sent the time', async () => {
  offer(['snapshots']);
  // The other replica caches the features for a second.
  const service = await startTasks(world);
  const { status, body } = await create('?give_up_after_s=600', randomUUID(), service);
  expect(status).toBe(201);
  expect(Object.keys(jobOf(body.task_id))).not.toContain('give_up_after_s');
  await service.stop();
});

test.each([
  ['', 1],
  ['?snapshots=tracks', 2],
  ['?give_up_after_s=600&snapshots=tracks', 3],
])('a job that the backend refuses as invalid is sent again without each optional field: %s', async (query, sent) => {
  const requests: object[] = [];
  world.backend.onSubmit = (request) => {
    requests.push(request);
    return 'refuse_form';
  };
  await create(query);
  expect(requests).toHaveLength(sent);
  expect(new Set(requests.map((request) => Object.keys(request).length)).size).toBe(sent);
});

test.each<[string, (keyof NewJob)[], (keyof NewJob)[]]>([
  ['the time', ['give_up_after_s'], ['snapshots']],
  ['the time and snapshots', ['give_up_after_s', 'snapshots'], []],
])('a replica of an earlier release without %s gets the job without it', async (_name, unknown, sent) => {
  world.backend.onSubmit = (request) => (unknown.some((field) => field in request) ? 'refuse_form' : 'accept');
  const { status, body } = await create('?give_up_after_s=600&snapshots=tracks');
  expect(status).toBe(201);
  const optional = ['give_up_after_s', 'snapshots'].filter((field) => field in jobOf(body.task_id));
  expect(optional).toEqual(sent);
});
