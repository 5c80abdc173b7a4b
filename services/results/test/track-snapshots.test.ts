import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import { dayOfTask } from '@vision/contracts/ids';
import { snapshotTaken } from '@vision/contracts/job-events';
import type { SnapshotTakenData } from '@vision/contracts/job-events';
import { scanCursors } from '@vision/contracts/objects';
import { trackSnapshotKey } from '@vision/contracts/track-snapshots';
import { testToken } from '@vision/shared/testing/service-keys';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import { imagesOfTask } from '../src/db/track-snapshots.ts';
import { createSignals } from '../src/signals.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { deleteTasks } from '../src/use-cases/retain/delete-tasks.ts';
import { decideAboutBucket } from '../src/use-cases/operate/decide-about-bucket.ts';
import { scanSegments } from '../src/use-cases/operate/scan-segments.ts';
import { ownSegmentPrefix } from '../src/use-cases/retain/owned-segments.ts';
import { runRetention } from '../src/use-cases/retain/run-retention.ts';
import { sweepSegmentObjects } from '../src/use-cases/retain/sweep-segment-objects.ts';
import { sweepAllTrackSnapshots } from '../src/use-cases/retain/sweep-track-snapshots.ts';
import { frame, logger, mark, newTaskId, object, snapshot, startResults, testSettings } from './support.ts';
import type { TestResults } from './support.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

const WRITER = randomUUID();
const own = `track-snapshots/of-${WRITER}/`;
const jpeg = (text: string) => Buffer.concat([Buffer.from('ffd8ff', 'hex'), Buffer.from(text)]);

let results: TestResults;
let store: ReturnType<typeof createSegmentStore>;
beforeAll(async () => {
  results = await startResults();
  store = createSegmentStore(results.s3);
  await results.service.consumers.jobs.joined;
});
afterAll(async () => {
  store.close();
  await results.stop();
});

const deps = () => ({
  db: results.database.db,
  logger,
  ownPrefix: ownSegmentPrefix(results.database),
  partitions: createPartitionKeeper(results.database.db, 90),
  settings: { ...testSettings },
  signals: createSignals(logger),
  store,
});

const loops = () => createTaskLoops(logger, ['compaction', 'deletions', 'fold', 'overdue_ends', 'stored_frames']);

const seen = (trackId: string, score = 0.9) => ({ ...object(score), track_id: trackId });

/** A task with one track of some frames. */
async function taskWith(facts: Parameters<typeof snapshot>[2] = {}, frames = 10, score = 0.9): Promise<string> {
  const task = newTaskId();
  await results.tell(snapshot(task, 'subject-a', { snapshots: 'tracks', ...facts }));
  await results.deliver(
    Array.from({ length: frames }, (_, seq) => frame(task, seq, { objects: [seen('a1-1', score)] })),
  );
  return task;
}

/** Stores an image as inference does. */
async function storeImage(task: string, n: number, text = `image ${n}`): Promise<string> {
  const key = trackSnapshotKey(own, { taskId: task, trackId: 'a1-1' }, `${n}x${randomUUID().slice(0, 8)}`) ?? '';
  await store.put(key, jpeg(text));
  return key;
}

const taken = (task: string, n: number, objectKey: string): SnapshotTakenData => ({
  job_id: task,
  attempt: 1,
  track_id: 'a1-1',
  n,
  seq: 2 + n,
  frame_time_ms: (2 + n) * 200,
  score: 0.9,
  bbox: seen('a1-1').bbox,
  object_key: objectKey,
  width: 64,
  height: 128,
  bytes: 10,
});

async function publish(data: SnapshotTakenData) {
  const id = randomUUID();
  await results.producer.publish([{ ...snapshotTaken, key: data.job_id, source: 'inference', data, id }]);
  return untilSettled(results.service.consumers.jobs, id);
}

/** Stores an image and publishes its event. */
async function takeImage(task: string, n: number): Promise<string> {
  const key = await storeImage(task, n);
  await publish(taken(task, n, key));
  return key;
}

async function read(task: string, { track = 'a1-1', subject = 'subject-a' } = {}) {
  const response = await results.get(`/v1/vision/tasks/${task}/tracks/${track}/snapshot`, subject);
  const bytes = Buffer.from(await response.arrayBuffer());
  const reason =
    response.status === 200 ? undefined : (JSON.parse(bytes.toString()) as { details: { reason: string } }).details;
  return { status: response.status, headers: response.headers, bytes, reason: reason?.reason };
}

const imageOf = async (task: string) => {
  const response = await results.get(`/v1/vision/tasks/${task}/tracks/a1-1`);
  return ((await response.json()) as { snapshot: Record<string, unknown> }).snapshot;
};
const objectsOf = async (task: string) => (await results.s3.objects()).filter((key) => key.includes(task));
/** Removes all objects that are listed as unused, regardless of their age. */
async function sweepListed() {
  await results.database.db('unindexed_objects').update({ noted_at: new Date(0) });
  await sweepSegmentObjects(deps());
}

test('the newest image of a track is returned, and the one before is removed', async () => {
  const task = await taskWith();
  expect(await imageOf(task)).toEqual({ state: 'pending' });
  expect(await read(task)).toMatchObject({ status: 404, reason: 'snapshot_not_yet' });
  const first = await takeImage(task, 1);
  const one = await read(task);
  expect([one.status, one.bytes]).toEqual([200, jpeg('image 1')]);
  expect(Object.fromEntries(one.headers)).toMatchObject({
    'content-type': 'image/jpeg',
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    'x-frame-time-ms': '600',
    etag: '"a1-1-1-1"',
  });
  const second = await takeImage(task, 2);
  // Late and repeated events change nothing.
  await publish(taken(task, 1, first));
  await publish(taken(task, 2, second));
  expect((await read(task)).bytes).toEqual(jpeg('image 2'));
  expect(await imageOf(task)).toEqual({
    state: 'available',
    frame_id: `${task}-4`,
    frame_time_ms: 800,
    width: 64,
    height: 128,
    expires_at: expect.stringMatching(/^\d{4}-/),
  });
  await sweepListed();
  expect(await objectsOf(task)).toEqual([second]);
  expect((await read(task)).status).toBe(200);
});

test('a client that has the image learns that it has not changed', async () => {
  const task = await taskWith();
  await takeImage(task, 1);
  const authorization = `Bearer ${await testToken('gateway', 'results', { subject: 'subject-a' })}`;
  const url = `http://127.0.0.1:${results.service.port}/v1/vision/tasks/${task}/tracks/a1-1/snapshot`;
  const ask = async (etag: string) => (await fetch(url, { headers: { authorization, 'if-none-match': etag } })).status;
  expect(await ask((await read(task)).headers.get('etag') ?? '')).toBe(304);
  expect(await ask('"other"')).toBe(200);
});

test('returns why a track has no image', async () => {
  const ended = { status: 'succeeded' as const, version: 2, ended_at: new Date(Date.now() - 120_000).toISOString() };
  const reasonOf = async (facts: Parameters<typeof snapshot>[2], frames = 10, score = 0.9) => {
    const task = await taskWith(facts, frames, score);
    await results.deliver([mark(task, { frames_published: frames })]);
    await results.tell(snapshot(task, 'subject-a', { snapshots: 'tracks', ...facts, ...ended }));
    return [(await imageOf(task))['reason'], (await read(task)).reason];
  };
  expect(await reasonOf({ snapshots: 'off' })).toEqual(['snapshots_off', 'snapshots_off']);
  expect(await reasonOf({ snapshots: undefined })).toEqual(['not_supported', 'snapshot_none']);
  expect(await reasonOf({}, 2)).toEqual(['too_short', 'snapshot_none']);
  expect(await reasonOf({}, 10, 0.5)).toEqual(['below_score', 'snapshot_none']);
  expect(await reasonOf({})).toEqual(['not_taken', 'snapshot_none']);
});

test('an image of another subject, an unknown track and a foreign form get the same 404', async () => {
  const task = await taskWith();
  await takeImage(task, 1);
  expect(await read(task, { subject: 'subject-b' })).toMatchObject({ status: 404, reason: 'task_not_found' });
  expect(await read(task, { track: 'a9-9' })).toMatchObject({ status: 404, reason: 'track_not_found' });
  expect(await read(task, { track: 'x'.repeat(65) })).toMatchObject({ status: 404, reason: 'track_not_found' });
});

test.each<[string, (task: string, key: string) => string]>([
  ['another kind of object', (task) => `pictures/${task}/0`],
  ['an image of another task', (task, key) => key.replaceAll(task, newTaskId())],
  ['an image of another track', (_task, key) => key.replace('a1-1-', 'a1-2-')],
])('an event that names %s is refused, and shows and removes nothing', async (_name, change) => {
  const task = await taskWith();
  const key = change(task, await storeImage(task, 1));
  await store.put(key, jpeg('secret'));
  expect(await publish(taken(task, 1, key))).toBe('dead-lettered');
  expect((await read(task)).status).toBe(404);
  await sweepListed();
  expect(await results.s3.objects()).toContain(key);
});

test('an object that is gone, and one that is no JPEG, are no image', async () => {
  const [gone, odd] = [await taskWith(), await taskWith()];
  await store.remove([await takeImage(gone, 1)]);
  await store.put(await takeImage(odd, 1), Buffer.from('<script>'));
  expect(await read(gone)).toMatchObject({ status: 404, reason: 'snapshot_none' });
  expect(await read(odd)).toMatchObject({ status: 404, reason: 'snapshot_none' });
});

test('an image expires after its days and its track shows it', async () => {
  const [old, young] = [await taskWith(), await taskWith()];
  await takeImage(old, 1);
  await takeImage(young, 1);
  await results.database
    .db('track_snapshots')
    .where({ task_id: old })
    .update({ stored_at: new Date(0) });
  await runRetention(deps());
  expect(await imageOf(old)).toEqual({ state: 'none', reason: 'expired' });
  expect(await read(old)).toMatchObject({ status: 404, reason: 'snapshot_none' });
  await sweepListed();
  expect([await objectsOf(old), (await objectsOf(young)).length]).toEqual([[], 1]);
  expect((await read(young)).status).toBe(200);
});

test('images of a deleted task leave the store with it, and one that arrives later with the next sweep', async () => {
  const [task, other] = [await taskWith(), await taskWith()];
  const kept = await takeImage(other, 1);
  // The first one is replaced and waits for the sweep; the event of the third one is lost.
  await takeImage(task, 1);
  await takeImage(task, 2);
  await storeImage(task, 3);
  const answer = await results.ask('/internal/v1/deleted-tasks', { task_ids: [task] });
  expect(await answer.json()).toEqual({ task_ids: [task] });
  expect((await read(task)).status).toBe(404);
  expect(await objectsOf(task)).toEqual([]);
  await takeImage(task, 4);
  expect(await results.database.db('track_snapshots').where({ task_id: task })).toEqual([]);
  await sweepSegmentObjects(deps());
  expect(await objectsOf(task)).toEqual([]);
  expect(await objectsOf(other)).toEqual([kept]);
  const listed = results.database.db('unindexed_objects').whereLike('object_key', `%${task}%`);
  expect(await listed.pluck<string[]>('object_key')).toEqual([]);
});

test('a scan finds segments and images of tracks that rows name and the bucket does not have', async () => {
  const { db } = results.database;
  const keys: string[] = [];
  for (let n = 0; n < 4; n += 1) keys.push(await takeImage(await taskWith(), 1));
  await db('track_snapshots').whereNotIn('object_key', keys).delete();
  await store.remove([keys[1] ?? '', keys[3] ?? '']);
  const gone = `segments/of-${WRITER}/gone`;
  const segment = db('segments').where({ id: (await db('segments').first<{ id: string }>('id')).id });
  await segment.clone().update({ object_key: gone, body: null });
  const missing: string[] = [];
  const cursors: string[] = [''];
  for (let after: string | undefined = ''; after !== undefined; after = cursors.at(-1) || undefined) {
    const page = await scanSegments(deps())({ after, limit: 2 });
    missing.push(...page.missing.map(({ object_key }) => object_key));
    cursors.push(page.next_cursor);
  }
  expect(missing).toEqual([gone, keys[1], keys[3]]);
  const between = cursors.slice(1, -1);
  expect(between).toHaveLength(2);
  for (const cursor of between) expect(cursor).toMatch(scanCursors.results);
  await segment.delete();
});

test('images of one task are found among many that wait for the sweep', async () => {
  const { db } = results.database;
  const taskId = newTaskId();
  const day = dayOfTask(taskId) ?? '';
  const listed = (task: string) => `'${own}${day}/' || ${task} || '/a1-1-1xabc.jpg'`;
  await db.raw(
    `insert into unindexed_objects (object_key, day)
     select ${listed('gen_random_uuid()')}, :day::date from generate_series(1, 5000)
      union all select ${listed(`'${taskId}'`)}, :day::date`,
    { day },
  );
  await db.raw('analyze unindexed_objects');
  await db.transaction(async (tx) => {
    expect(await imagesOfTask(tx, { day, taskId }, 500)).toEqual([`${own}${day}/${taskId}/a1-1-1xabc.jpg`]);
    const { rows } = await tx.raw<{ rows: { read: number }[] }>(
      `select (seq_tup_read + idx_tup_fetch)::int as read
         from pg_stat_xact_user_tables where relname = 'unindexed_objects'`,
    );
    expect(rows[0]?.read).toBeLessThan(50);
  });
  await db('unindexed_objects').whereLike('object_key', '%/a1-1-1xabc.jpg').delete();
});

test('the owner of the bucket is read once for all tasks of a request', async () => {
  const { db } = results.database;
  const generation = async () =>
    (await db('bucket_owner').where({ name: 'segments' }).first<{ generation: number }>('generation')).generation;
  const tasks = [await taskWith(), await taskWith(), await taskWith()];
  await takeImage(tasks[0] ?? '', 1);
  await decideAboutBucket(deps(), 'resume');
  const before = await generation();
  expect(await deleteTasks({ ...deps(), loops: loops() }, tasks)).toEqual(tasks);
  expect((await generation()) - before).toBe(1);
});

test('a task is not confirmed as deleted while the store keeps its images', async () => {
  const task = await taskWith();
  await takeImage(task, 1);
  const broken = {
    ...deps(),
    loops: loops(),
    store: { ...store, remove: () => Promise.reject(new Error('the store is full')) },
  };
  expect(await deleteTasks(broken, [task])).toEqual([]);
  expect((await read(task)).status).toBe(404);
  expect(await deleteTasks({ ...broken, store }, [task])).toEqual([task]);
  expect(await objectsOf(task)).toEqual([]);
});

test('a restored database leaves the images of a deleted task to the sweep', async () => {
  const task = await taskWith();
  const key = await takeImage(task, 1);
  await results.database.db('bucket_owner').where({ name: 'segments' }).update({ place: 'another server' });
  expect(await deleteTasks({ ...deps(), loops: loops() }, [task])).toEqual([task]);
  expect(await objectsOf(task)).toEqual([key]);
  await decideAboutBucket(deps(), 'resume');
});

test('an object whose event was lost is removed by the sweep, and nothing of another installation is', async () => {
  const task = await taskWith();
  const known = await takeImage(task, 1);
  const lost = await storeImage(task, 2);
  const foreign = known.replace(WRITER, randomUUID());
  await store.put(foreign, jpeg('foreign'));
  // The mark of the other installation.
  await store.put(`.vision-owner/track-snapshots/${randomUUID()}`, Buffer.from('{"generation":1}'));
  await decideAboutBucket(deps(), 'resume');
  expect(await sweepAllTrackSnapshots(deps())).toBeGreaterThan(0);
  const left = await results.s3.objects();
  expect([left.includes(known), left.includes(lost), left.includes(foreign)]).toEqual([true, false, true]);
});

test('a database that does not know most of the images removes none', async () => {
  const task = await taskWith();
  await takeImage(task, 1);
  const unknown = await Promise.all(Array.from({ length: 40 }, (_, n) => storeImage(task, 100 + n)));
  expect(await sweepAllTrackSnapshots(deps())).toBe(0);
  expect(await results.s3.objects()).toEqual(expect.arrayContaining(unknown));
});

// The last one: it drops the partitions of today.
test('images are removed with the day of their task', async () => {
  const task = await taskWith();
  await takeImage(task, 1);
  await runRetention({ ...deps(), settings: { ...testSettings, retentionDays: -1, snapshotDays: 30 } });
  expect(await results.database.db('track_snapshots').where({ task_id: task })).toEqual([]);
  expect(await objectsOf(task)).toEqual([]);
});
