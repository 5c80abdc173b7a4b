import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { crashNames } from './support/crash-names.ts';
import { startDying as startDyingIn } from './support/dying.ts';
import type { RunningProcess } from '@vision/shared/testing/service-process';
import { callService, createWorld, startTasks, storedTasks } from './support/system.ts';
import type { Answer, StoredTask, TestTasks, World } from './support/system.ts';
import { upload } from './support/videos.ts';

let world: World;
let survivor: TestTasks | undefined;
const running: RunningProcess[] = [];
beforeAll(async () => {
  // In every case, recovery takes over one lease after the process died.
  world = await createWorld({ LEASE_MS: '1200' });
});
afterAll(async () => {
  await world.close();
});
afterEach(async () => {
  world.backend.onSubmit = () => 'accept';
  await survivor?.stop();
  survivor = undefined;
  await Promise.all(running.splice(0).map((process) => process.stop()));
});

const startDying = async (crashAt: string) => {
  const dying = await startDyingIn(world, crashAt);
  running.push(dying.process);
  return dying;
};

interface Scene {
  subject: string;
  key: string;
}

// One unit a day: a repeat must get the unit that its dead create request holds.
const limits = { active_tasks: 10, video_tasks_per_day: 1 };
const createStream = (port: number, scene: Scene): Promise<Answer> =>
  callService(port, 'POST', '/v1/vision/tasks', {
    ...scene,
    limits,
    body: { scene_code: 'ship', stream_url: world.stream.url },
  });
const createUpload = (port: number, scene: Scene): Promise<Answer> => upload({ port, ...scene, limits });
const createRefused = (port: number, scene: Scene): Promise<Answer> =>
  upload({ port, ...scene, limits: { ...limits, active_tasks: 0 } });

interface Case {
  name: string;
  /** Runs before the dying process starts. */
  prepare?: (scene: Scene) => Promise<string>;
  /** Request to the dying process; undefined: it dies in background work. */
  act?: (port: number, scene: Scene, taskId: string) => Promise<unknown>;
  replay: (port: number, scene: Scene, taskId: string) => Promise<Answer>;
  /** Allowed states of the task in the end. */
  ends: string[];
  charged: number;
}

const forBoth = (name: string, ends: string[], extra: Partial<Case> = {}): Case[] =>
  [createStream, createUpload].map((create) => ({ name, act: create, replay: create, ends, charged: 1, ...extra }));
const stopOf = (port: number, { subject }: Scene, taskId: string) =>
  callService(port, 'POST', `/v1/vision/tasks/${taskId}/stop`, { subject });
const notCreated = (port: number, _scene: Scene, taskId: string) =>
  callService(port, 'POST', `/internal/v1/tasks/${taskId}/verification`, {
    subject: 'operator',
    body: { outcome: 'not_created' },
  });
const deleteOf = (port: number, { subject }: Scene, taskId: string) =>
  callService(port, 'DELETE', `/v1/vision/tasks/${taskId}`, { subject });
const retention = (port: number) => callService(port, 'POST', '/internal/v1/retention/run');

async function createdBefore(scene: Scene, create = createStream): Promise<string> {
  const before = await startTasks(world);
  const { body } = await create(before.port, scene);
  await before.stop();
  return body.task_id;
}

const cases: Case[] = [
  { name: 'tasks.create-stream.drafted', act: createStream, replay: createStream, ends: ['running'], charged: 1 },
  { name: 'tasks.create-stream.probed', act: createStream, replay: createStream, ends: ['running'], charged: 1 },
  { name: 'tasks.create-upload.drafted', act: createUpload, replay: createUpload, ends: ['running'], charged: 1 },
  { name: 'tasks.create-upload.stored', act: createUpload, replay: createUpload, ends: ['running'], charged: 1 },
  ...forBoth('tasks.create.key-claimed', ['running']),
  ...forBoth('tasks.submit.admitted', ['running']),
  ...forBoth('tasks.submit.reserved', ['running']),
  ...forBoth('tasks.submit.submitting', ['resolving']),
  ...forBoth('tasks.submit.sent', ['running']),
  ...forBoth('tasks.submit.outcome-written', ['running']),
  ...forBoth('tasks.submit.refused', ['refunded'], {
    charged: 0,
    prepare: async () => {
      world.backend.onSubmit = () => 'refuse';
      return '';
    },
  }),
  ...forBoth('tasks.submit.taken-back', ['running'], {
    prepare: async () => {
      let refusals = 1;
      world.backend.onSubmit = () => (refusals-- > 0 ? 'no_capacity' : 'accept');
      return '';
    },
  }),
  ...['tasks.rollback.given-up', 'tasks.rollback.refunded', 'tasks.rollback.object-removed'].map((name) => ({
    name,
    act: createRefused,
    replay: createUpload,
    ends: ['running'],
    charged: 1,
  })),
  ...['tasks.stop.stored', 'tasks.stop.sent'].map((name) => ({
    name,
    prepare: (scene: Scene) => createdBefore(scene),
    act: stopOf,
    replay: createStream,
    ends: ['stopped'],
    charged: 1,
  })),
  ...['tasks.delete.stored', 'tasks.delete.told'].map((name) => ({
    name,
    prepare: async (scene: Scene) => {
      const id = await createdBefore(scene);
      const ended = { status: 'stopped', check_at: null };
      await world.database.db('tasks').where({ task_id: id }).update(ended);
      return id;
    },
    act: deleteOf,
    replay: deleteOf,
    ends: ['stopped'],
    charged: 1,
  })),
  {
    name: 'tasks.reconcile.moved',
    prepare: async (scene) => {
      const id = await createdBefore(scene);
      world.backend.end(id, 'succeeded');
      return id;
    },
    replay: createStream,
    ends: ['succeeded'],
    charged: 1,
  },
  ...['tasks.verify.stop-acknowledged', 'tasks.verify.moved'].map((name) => ({
    name,
    prepare: async (scene: Scene) => {
      world.backend.onSubmit = () => 'drop';
      return createdBefore(scene);
    },
    act: notCreated,
    replay: notCreated,
    ends: ['refunded'],
    charged: 0,
  })),
  ...['tasks.retention.videos-removed', 'tasks.retention.tasks-removed'].map((name) => ({
    name,
    prepare: async (scene: Scene) => {
      const id = await createdBefore(scene, createUpload);
      await world.database
        .db('tasks')
        .where({ task_id: id })
        .update({ status: 'failed', check_at: null, result_expires_at: new Date(0) });
      return id;
    },
    act: retention,
    replay: retention,
    ends: [],
    charged: 1,
  })),
];

test('every crash point has a case', () => {
  expect([...new Set(cases.map(({ name }) => name))].sort()).toEqual(crashNames());
});

test.each(cases.map((one, index): [string, number, Case] => [one.name, index, one]))(
  'a process killed at %s (case %i) leaves one result, the right charge and no other data',
  async (name, _index, { prepare, act, replay, ends, charged }) => {
    const scene = { subject: randomUUID(), key: randomUUID() };
    const before = await stored();
    const taskId = (await prepare?.(scene)) ?? '';
    const dying = await startDying(name);
    if (dying.port !== undefined) await act?.(dying.port, scene, taskId).catch(() => undefined);
    expect(await dying.process.ended).toBe('SIGKILL');
    survivor = await startTasks(world);
    const { port } = survivor;
    const answer = await replay(port, scene, taskId);
    expect([200, 201, 202]).toContain(answer.status);
    const rows = await quiet(scene.subject, ends);
    if (answer.body.task_id) expect(rows.map((row) => row.task_id)).toEqual([answer.body.task_id]);
    await chargeIsRight(scene.subject, charged);
    const started = rows.map((row) => world.backend.submits.filter((submit) => submit.jobId === row.task_id).length);
    for (const submits of started) expect(submits).toBeLessThanOrEqual(1);
    const kept = rows
      .filter((row) => row.object_key !== null && row.status !== 'refunded')
      .map((row) => row.object_key);
    await until(async () => (await stored()).every((object) => before.includes(object) || kept.includes(object)));
  },
);

test("a repeat after a crash on the day's last unit gets that unit before any recovery runs", async () => {
  const scene = { subject: randomUUID(), key: randomUUID() };
  survivor = await startTasks(world, { RECOVERY_MS: '600000' });
  const dying = await startDying('tasks.submit.reserved');
  await createStream(Number(dying.port), scene).catch(() => undefined);
  expect(await dying.process.ended).toBe('SIGKILL');
  expect(await world.quota.used(scene.subject)).toBe(1);
  const repeated = await createStream(survivor.port, scene);
  expect([repeated.status, repeated.body.code]).toEqual([201, undefined]);
  await chargeIsRight(scene.subject, 1);
});

test("suggests a retry soon for a new key while a dead create request holds the day's last unit", async () => {
  const scene = { subject: randomUUID(), key: randomUUID() };
  survivor = await startTasks(world, { LEASE_MS: '600000' });
  const dying = await startDying('tasks.submit.reserved');
  await createStream(Number(dying.port), scene).catch(() => undefined);
  expect(await dying.process.ended).toBe('SIGKILL');
  await world.database
    .db('tasks')
    .where({ subject: scene.subject })
    .update({ lease_until: new Date('2100-01-01') });
  const refused = await createStream(survivor.port, { ...scene, key: randomUUID() });
  expect([refused.status, refused.body.code]).toEqual([429, 'OP-QUOTA-DAILY-EXHAUSTED']);
  expect(refused.headers.get('retry-after')).toBe('10');
  // After its lease has expired, the next request gets the unit once the dead create request is rolled back.
  await world.database
    .db('tasks')
    .where({ subject: scene.subject })
    .update({ lease_until: new Date(0) });
  const { port } = survivor;
  await until(async () => (await createStream(port, { ...scene, key: randomUUID() })).status === 201);
});

test('the unit of a create request that died during its rollback is available to the next key', async () => {
  const scene = { subject: randomUUID(), key: randomUUID() };
  world.backend.onSubmit = () => 'no_capacity';
  survivor = await startTasks(world, { RECOVERY_MS: '600000' });
  const dying = await startDying('tasks.submit.taken-back');
  await createStream(Number(dying.port), scene).catch(() => undefined);
  expect(await dying.process.ended).toBe('SIGKILL');
  // Its event would refund the unit later; the next request does not wait for that.
  await world.database.db('outbox').delete();
  world.backend.onSubmit = () => 'accept';
  const next = await createStream(survivor.port, { ...scene, key: randomUUID() });
  expect([next.status, next.body.code]).toEqual([201, undefined]);
  await chargeIsRight(scene.subject, 1);
});

/** The tasks of a subject once it has no draft and every task is in one of the states. */
async function quiet(subject: string, ends: string[]): Promise<StoredTask[]> {
  return until(async () => {
    const rows = await storedTasks(world, { subject });
    const isQuiet = rows.every((row) => ends.includes(row.status)) && rows.length === Math.min(1, ends.length);
    return isQuiet ? rows : undefined;
  });
}

/** The counter is right and agrees with the ledger. */
async function chargeIsRight(subject: string, charged: number): Promise<void> {
  await until(async () => (await world.quota.used(subject)) === charged);
  const reservations = await world.quota.reservations(subject);
  expect(reservations.filter((reservation) => reservation.charged > 0)).toHaveLength(charged);
}

/** Names of all objects in the store, unfinished uploads included. */
async function stored(): Promise<string[]> {
  const incomplete = await world.s3.client.listIncompleteUploadsQuery(world.s3.bucket, '', '', '', '');
  return [...(await world.s3.objects()), ...incomplete.uploads.map((one) => `incomplete ${one.key}`)];
}
