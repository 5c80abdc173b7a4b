import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

let world: World;
let tasks: TestTasks;
beforeAll(async () => {
  world = await createWorld();
  // Each job is queried only once, so that the operator is faster than the reconciler.
  tasks = await startTasks(world, { RESOLVING_RECONCILE_MS: '600000' });
});
afterAll(async () => {
  await tasks.stop();
  await world.close();
});
afterEach(() => {
  world.backend.onSubmit = () => 'accept';
  world.backend.onStop = () => 'answer';
});

/** A task in `resolving` after the reconciler has queried its job without a result. */
async function unknownTask(subject: string): Promise<string> {
  world.backend.onSubmit = () => 'drop';
  const { body } = await tasks.create({ subject });
  const isLeft = async () => {
    const [row] = await storedTasks(world, { task_id: body.task_id, status: 'resolving' });
    return Number(row?.check_at) > Date.now() + 60_000;
  };
  await until(isLeft);
  return body.task_id;
}

const startJob = (id: string, frames: number) => {
  const source = { kind: 'object' as const, bucket: '-', key: '-' };
  const request = { job_id: id, scene_code: 'ship', lower_bound: 0, source };
  world.backend.jobs.set(id, { job_id: id, status: 'running', frames_published: frames, request, attempt: 1 });
};
const verifyNotCreated = (id: string) =>
  tasks.call('POST', `/internal/v1/tasks/${id}/verification`, {
    subject: 'operator',
    body: { outcome: 'not_created', note: 'looked', who: 'ann' },
  });
const becomes = (id: string, status: string) =>
  until(async () => (await storedTasks(world, { task_id: id, status })).length === 1);

test('not created is refused with evidence when the backend has the job, which continues and is found', async () => {
  const subject = randomUUID();
  const id = await unknownTask(subject);
  startJob(id, 7);
  const refused = await verifyNotCreated(id);
  expect([refused.status, refused.body.details]).toEqual([
    409,
    {
      reason: 'verification_disproved',
      evidence: { job_status: 'running', frames_published: 7, seen_before: false },
    },
  ]);
  expect(world.backend.jobs.get(id)?.status).toBe('running');
  await becomes(id, 'running');
  expect(await world.quota.used(subject)).toBe(1);
});

test('a job that arrives between the query and the stop keeps its charge, even if the operator repeats', async () => {
  const subject = randomUUID();
  const id = await unknownTask(subject);
  world.backend.onStop = (jobId) => {
    if (!world.backend.jobs.has(jobId)) startJob(jobId, 0);
    return 'answer';
  };
  expect((await verifyNotCreated(id)).body.details?.['reason']).toBe('verification_disproved');
  expect((await verifyNotCreated(id)).status).toBe(409);
  await becomes(id, 'stopped');
  expect(await world.quota.used(subject)).toBe(1);
});
