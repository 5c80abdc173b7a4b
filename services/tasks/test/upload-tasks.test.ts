import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { processorTimeHeader } from '@vision/contracts/inference';
import { until } from '@vision/shared/testing/until';
import { v7 as uuidv7 } from 'uuid';
import { createWorld, startTasks, storedTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';
import { formOf, mp4, upload } from './support/videos.ts';
import type { Part, UploadOptions } from './support/videos.ts';

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
afterEach(() => {
  world.backend.onSubmit = () => 'accept';
});

const send = (options: Partial<UploadOptions> = {}) => upload({ port: tasks.port, key: randomUUID(), ...options });
const scene: Part = { name: 'scene_code', value: 'ship' };
const drafts = async () => world.database.db('tasks').whereIn('status', ['draft', 'admitted', 'undoing']);
const incomplete = async () => {
  const found = await world.s3.client.listIncompleteUploadsQuery(world.s3.bucket, '', '', '', '');
  return found.uploads.length;
};
/** The store contains only objects of tasks, and no draft is left. */
const nothingLeft = () =>
  until(async () => {
    const rows = (await storedTasks(world, {})).filter((row) => row.status !== 'refunded');
    const objects = await world.s3.objects();
    return (
      (await drafts()).length === 0 &&
      (await incomplete()) === 0 &&
      objects.every((name) => rows.some((row) => row.object_key === name))
    );
  });

test('an uploaded video is stored entirely and submitted to the backend by its key', async () => {
  const subject = randomUUID();
  const created = await send({ subject });
  expect([created.status, created.body.status]).toEqual([201, 'running']);
  const source = world.backend.jobs.get(created.body.task_id)?.request.source;
  expect(source).toEqual({ kind: 'object', bucket: world.s3.bucket, key: await world.videoOf(created.body.task_id) });
  const stat = await world.s3.client.statObject(world.s3.bucket, await world.videoOf(created.body.task_id));
  expect(stat.size).toBe(2000);
  expect(await world.quota.used(subject)).toBe(1);
});

test('the order of the parts does not matter', async () => {
  const created = await send({ parts: [{ name: 'file', file: mp4(9_000_000) }, scene] });
  expect(created.status).toBe(201);
  expect((await world.s3.client.statObject(world.s3.bucket, await world.videoOf(created.body.task_id))).size).toBe(
    9_000_000,
  );
});

test('a replay with another boundary, file name and order is the same request and stores no data', async () => {
  const subject = randomUUID();
  const key = randomUUID();
  const first = await send({ subject, key });
  const objects = await world.s3.objects();
  const rawBody = formOf([{ name: 'file', file: mp4(), filename: 'other.mov' }, scene], 'other');
  const again = await send({
    subject,
    key,
    rawBody,
    headers: { 'content-type': 'multipart/form-data; boundary=other' },
  });
  expect([again.status, again.body.task_id]).toEqual([200, first.body.task_id]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await world.s3.objects()).toEqual(objects);
  const changed = await send({ subject, key, parts: [scene, { name: 'file', file: mp4(2000, 2) }] });
  expect([changed.status, changed.body.details?.['reason']]).toEqual([400, 'idempotency_key_reused']);
  const route = await tasks.create({ subject, key });
  expect([route.status, route.body.details?.['reason']]).toEqual([400, 'idempotency_key_reused']);
  expect(await world.quota.used(subject)).toBe(1);
});

test('ten identical concurrent uploads give one task, one charge and one object', async () => {
  const subject = randomUUID();
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: 10 }, () => send({ subject, key })));
  expect(new Set(answers.map((answer) => answer.body.task_id)).size).toBe(1);
  expect(answers.map((answer) => answer.status).sort()).toEqual([...Array.from({ length: 9 }, () => 200), 201]);
  expect(await world.quota.used(subject)).toBe(1);
  await nothingLeft();
});

test.each<[string, Part[], string]>([
  [
    'text renamed .mp4',
    [scene, { name: 'file', file: Buffer.from('hello, this is no video at all') }],
    'file_type_unsupported',
  ],
  [
    'a playlist renamed .mp4',
    [scene, { name: 'file', file: Buffer.from('#EXTM3U\nfile:///etc/passwd\n') }],
    'file_type_unsupported',
  ],
  [
    'HEIC',
    [scene, { name: 'file', file: Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1') }],
    'file_type_unsupported',
  ],
  ['0 bytes', [scene, { name: 'file', file: Buffer.alloc(0) }], 'file_type_unsupported'],
  ['no file', [scene], 'file_missing'],
  ['a file sent as a field', [scene, { name: 'file', value: 'x' }], 'unknown_field'],
  ['another file field', [scene, { name: 'files', file: mp4() }], 'unknown_field'],
  ['another value field', [scene, { name: 'more', value: '1' }, { name: 'file', file: mp4() }], 'unknown_field'],
  [
    'an array field',
    [
      { name: 'scene_code[999999999]', value: '1' },
      { name: 'file', file: mp4() },
    ],
    'unknown_field',
  ],
  ['two scenes', [scene, scene, { name: 'file', file: mp4() }], 'field_repeated'],
  ['two files', [scene, { name: 'file', file: mp4() }, { name: 'file', file: mp4() }], 'too_many_files'],
  ['no scene', [{ name: 'file', file: mp4() }], 'scene_code_missing'],
  [
    'an empty scene',
    [
      { name: 'scene_code', value: '' },
      { name: 'file', file: mp4() },
    ],
    'scene_code_missing',
  ],
  [
    'an unknown scene',
    [
      { name: 'scene_code', value: 'nope' },
      { name: 'file', file: mp4() },
    ],
    'scene_unavailable',
  ],
])('%s is refused without a charge and leaves no data', async (_name, parts, reason) => {
  const subject = randomUUID();
  const key = randomUUID();
  const refused = await send({ subject, key, parts });
  expect([refused.status, refused.body.details?.['reason']]).toEqual([400, reason]);
  await nothingLeft();
  expect(await world.quota.used(subject)).toBe(0);
  expect((await send({ subject, key })).status).toBe(201);
});

test.each<[string, Partial<UploadOptions>, string]>([
  ['JSON', { rawBody: Buffer.from('{}'), headers: { 'content-type': 'application/json' } }, 'content_type_invalid'],
  ['no boundary', { headers: { 'content-type': 'multipart/form-data' } }, 'content_type_invalid'],
  ['garbage', { rawBody: Buffer.from('garbage') }, 'multipart_malformed'],
  [
    'a body without its end',
    { rawBody: formOf([scene, { name: 'file', file: mp4() }]).subarray(0, -30) },
    'multipart_malformed',
  ],
  [
    'a declared length beyond the limit',
    { headers: { 'content-length': String(600 * 1024 * 1024) }, rawBody: Buffer.from('x') },
    'body_too_large',
  ],
])('%s is refused', async (_name, options, reason) => {
  const refused = await send(options);
  expect([refused.status, refused.body.details?.['reason']]).toEqual([400, reason]);
  await nothingLeft();
});

test('a client that disconnects half-way leaves no data', async () => {
  const body = formOf([scene, { name: 'file', file: mp4(20_000_000) }]);
  await expect(send({ rawBody: body, abortAfter: 12_000_000 })).rejects.toThrow();
  await nothingLeft();
});

test('one byte too many is refused as soon as it arrives, and leaves no data', async () => {
  const start = formOf([scene]).subarray(0, -24);
  const chunk = Buffer.alloc(1024 * 1024);
  async function* body() {
    yield start;
    yield Buffer.from('--xxxx-boundary-xxxx\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\n\r\n');
    yield mp4(1024 * 1024);
    for (let sent = 1; sent < 512; sent += 1) yield chunk;
    yield Buffer.from('x');
    for (let sent = 0; sent < 20; sent += 1) yield chunk;
  }
  const before = process.memoryUsage().rss;
  const refused = await send({ rawBody: body() });
  expect([refused.status, refused.body.details?.['reason']]).toEqual([400, 'file_too_large']);
  expect(process.memoryUsage().rss - before).toBeLessThan(250 * 1024 * 1024);
  await nothingLeft();
});

test('a refusal of the backend removes the video', async () => {
  world.backend.onSubmit = () => 'refuse';
  const subject = randomUUID();
  const created = await send({ subject });
  expect([created.status, created.body.status]).toEqual([201, 'refunded']);
  // It cost no unit, so the gateway gets the processor time of its inspection.
  expect(created.headers.get(processorTimeHeader)).toBe('1700');
  expect(await world.quota.used(subject)).toBe(0);
  // The answer waits for the removal, but not for long.
  const key = await world.videoOf(created.body.task_id);
  await until(async () => !(await world.s3.objects()).includes(key));
});

test('maintenance refuses an upload before its body is read', async () => {
  const refused = await send({
    maintenance: { reason: 'x' },
    rawBody: formOf([scene, { name: 'file', file: mp4(5_000_000) }]),
  });
  expect([refused.status, refused.body.code]).toEqual([503, 'OP-TASK-BREAKER-OPEN']);
});

test('the sweep removes old objects without a task; keys of other forms only in a full sweep', async () => {
  const retain = (by: TestTasks) => by.call('POST', '/internal/v1/retention/run');
  // The database becomes the owner of the bucket before foreign objects are in it.
  await retain(tasks);
  const put = (key: string) => world.s3.client.putObject(world.s3.bucket, key, Buffer.from('x'));
  const [orphan, foreign] = [await world.videoOf(uuidv7()), 'videos/orphan'];
  await Promise.all([orphan, foreign].map(put));
  const kept = await world.videoOf((await send({})).body.task_id);
  await retain(tasks);
  expect(await world.s3.objects()).toEqual(expect.arrayContaining([orphan, foreign, kept]));
  const eager = await startTasks(world, { ORPHAN_AGE_MS: '0', SWEEP_GRACE_MS: '0', RETENTION_INTERVAL_MS: '200' });
  try {
    await until(async () => !(await world.s3.objects()).includes(orphan));
    expect(await world.s3.objects()).toEqual(expect.arrayContaining([foreign, kept]));
    expect((await retain(eager)).body).toMatchObject({ orphans: 1 });
    expect(await world.s3.objects()).not.toContain(foreign);
    expect(await world.s3.objects()).toContain(kept);
  } finally {
    await eager.stop();
  }
});

test('a restored database removes no object until an operator approves it', async () => {
  const retain = async () => (await tasks.call('POST', '/internal/v1/retention/run')).body;
  await retain();
  const { task_id: expired } = (await send({})).body;
  const { db } = world.database;
  await db('tasks')
    .where({ task_id: expired })
    .update({ status: 'succeeded', result_expires_at: new Date(0) });
  await db('bucket_owner').where({ name: 'videos' }).update({ generation: 0 });
  expect(await retain()).toMatchObject({ tasks: 0, videos: 0 });
  expect(await world.s3.objects()).toContain(await world.videoOf(expired));
  const path = '/internal/v1/bucket/decisions';
  const body = { decision: 'resume' };
  expect((await tasks.call('POST', path, { issuer: 'results', body })).status).toBe(403);
  expect(await tasks.call('POST', path, { body })).toMatchObject({ status: 200, body });
  expect(await retain()).toMatchObject({ tasks: 1, videos: 1 });
  expect(await world.s3.objects()).not.toContain(await world.videoOf(expired));
});

test('a restored database keeps the video of a draft: it may have become a task since', async () => {
  const { db } = world.database;
  await tasks.call('POST', '/internal/v1/retention/run');
  const { task_id: id } = (await send({})).body;
  const video = await world.videoOf(id);
  await db('bucket_owner').where({ name: 'videos' }).update({ generation: 0 });
  await db('tasks')
    .where({ task_id: id })
    .update({ status: 'admitted', lease_until: new Date(0) });
  await until(async () => (await storedTasks(world, { task_id: id })).length === 0);
  expect(await world.s3.objects()).toContain(video);
  await tasks.call('POST', '/internal/v1/bucket/decisions', { body: { decision: 'resume' } });
});

test('reusing the key of an expired task leaves the old video to retention', async () => {
  const request = { subject: randomUUID(), key: randomUUID() };
  const { task_id: expired } = (await send(request)).body;
  await world.database
    .db('tasks')
    .where({ task_id: expired })
    .update({ status: 'succeeded', result_expires_at: new Date(0) });
  const again = await send(request);
  expect(again.status).toBe(201);
  expect(again.body.task_id).not.toBe(expired);
  const { body } = await tasks.call('POST', '/internal/v1/retention/run');
  expect(body).toMatchObject({ tasks: 1, videos: 1, orphans: 0 });
  const objects = await world.s3.objects();
  expect(objects).not.toContain(await world.videoOf(expired));
  expect(objects).toContain(await world.videoOf(again.body.task_id));
  expect(await storedTasks(world, { task_id: expired })).toEqual([]);
});
