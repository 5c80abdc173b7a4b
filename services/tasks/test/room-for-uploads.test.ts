import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { createWorld, patientSettings, startTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';
import { formOf, mp4, upload } from './support/videos.ts';
import type { Part } from './support/videos.ts';

let world: World;
let patient: TestTasks;
let hasty: TestTasks;
const ending = new AbortController();
beforeAll(async () => {
  world = await createWorld({ PLACE_WAIT_MS: '100000' });
  [patient, hasty] = await Promise.all([
    startTasks(world, { SUBMIT_TIMEOUT_MS: '15000' }, patientSettings),
    startTasks(world, { PLACE_WAIT_MS: '300' }),
  ]);
});
afterAll(async () => {
  ending.abort();
  await Promise.all([patient.stop(), hasty.stop()]);
  await world.close();
});

/** Sets the free slots of the backend for files. */
function setFree(object: number): void {
  world.backend.capacity = () => ({ free: { stream: 100, object }, places: { stream: 100, object: 100 } });
}
const send = (subject: string, key: string = randomUUID()) => upload({ port: patient.port, subject, key });
const rowsOf = (table: 'tasks' | 'place_claims', subject: string) => world.database.db(table).where({ subject });
const scene: Part = { name: 'scene_code', value: 'ship' };
/** A body that never ends. */
async function* endless() {
  yield formOf([{ name: 'file', file: mp4() }]).subarray(0, 1000);
  await new Promise((resolve) => ending.signal.addEventListener('abort', resolve));
}

test('an upload without a free slot is refused before its body is read, and leaves no data', async () => {
  setFree(0);
  const subject = randomUUID();
  const refused = await upload({ port: hasty.port, subject, key: randomUUID(), rawBody: endless() });
  expect([refused.status, refused.body.code]).toEqual([503, 'OP-TASK-UPSTREAM-DOWN']);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await rowsOf('tasks', subject)).toEqual([]);
  expect(await rowsOf('place_claims', subject)).toEqual([]);
  expect(await world.quota.used(subject)).toBe(0);
});

test('an upload waits for a slot before its body is read, and is created once one is free', async () => {
  setFree(0);
  const subject = randomUUID();
  const created = send(subject);
  await until(async () => (await rowsOf('place_claims', subject)).length === 1);
  expect(await rowsOf('tasks', subject)).toEqual([]);
  setFree(1);
  expect((await created).status).toBe(201);
});

test('a repeated upload is replayed, with a free slot or without', async () => {
  setFree(100);
  const [subject, key] = [randomUUID(), randomUUID()];
  expect((await send(subject, key)).status).toBe(201);
  setFree(0);
  expect((await send(subject, key)).status).toBe(200);
});

test('an upload without a slot after its body is refused, although one was free before', async () => {
  setFree(1);
  const [subject, faster] = [randomUUID(), randomUUID()];
  const form = formOf([scene, { name: 'file', file: mp4() }]);
  let sent: Promise<unknown> | undefined;
  const body = (async function* () {
    yield form.subarray(0, 300);
    await until(async () => (await rowsOf('tasks', subject)).length === 1);
    // Another request takes the slot meanwhile, and the backend has not counted it yet.
    world.backend.onSubmit = () => 'hang';
    sent = send(faster);
    await until(() => Promise.resolve(world.backend.submits.length > submitted));
    yield form.subarray(300);
  })();
  const submitted = world.backend.submits.length;
  const refused = await upload({ port: hasty.port, subject, key: randomUUID(), rawBody: body });
  expect([refused.status, refused.body.code]).toEqual([503, 'OP-TASK-UPSTREAM-DOWN']);
  expect(await world.quota.used(subject)).toBe(0);
  await sent;
});
