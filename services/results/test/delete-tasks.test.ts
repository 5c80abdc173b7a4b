import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Knex } from 'knex';
import { frameProduced, jobEnded } from '@vision/contracts/frame-events';
import type { FrameData } from '@vision/contracts/frame-events';
import { dayOfTask } from '@vision/contracts/ids';
import { sourceChanged } from '@vision/contracts/job-events';
import { topics } from '@vision/contracts/topics';
import { TRACK_SNAPSHOTS } from '@vision/contracts/track-snapshots';
import { createBatchConsumer } from '@vision/kafka/batch-consumer';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import { freePort } from '@vision/shared/testing/ports';
import { testPublicKeys, testServiceKey, testToken } from '@vision/shared/testing/service-keys';
import { startProcess, untilReady } from '@vision/shared/testing/service-process';
import { until } from '@vision/shared/testing/until';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import { frameHandler } from '../src/consumers/frames.ts';
import { lockFold } from '../src/db/folds.ts';
import { noteWriter } from '../src/db/track-snapshots.ts';
import { createSignals } from '../src/signals.ts';
import { compactFrames } from '../src/use-cases/segments/compact-frames.ts';
import { deleteTasks } from '../src/use-cases/retain/delete-tasks.ts';
import { foldTask } from '../src/use-cases/fold/fold-task.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { learnTask } from '../src/use-cases/store/learn-task.ts';
import { ownSegmentPrefix } from '../src/use-cases/retain/owned-segments.ts';
import { storeSource } from '../src/use-cases/store/store-source.ts';
import { sweepSegmentObjects } from '../src/use-cases/retain/sweep-segment-objects.ts';
import {
  foldParts,
  formsOf,
  framesOf,
  frame,
  logger,
  mark,
  newTaskId,
  noRules,
  object,
  settingsOfStore,
  snapshot,
  startResults,
  testSettings,
} from './support.ts';
import { resultTablesOfATask } from '../../../test/support/tables-of-a-task.ts';
import type { TestResults } from './support.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

const HOUR_MS = 3_600_000;
/** Prefix of the database in the keys of images. */
const WRITER = randomUUID();
let results: TestResults;
beforeAll(async () => {
  // The tests fold tasks and move their frames.
  results = await startResults({ SEGMENT_INTERVAL_MS: '600000', END_CHECK_MS: '600000' });
  await results.service.consumers.jobs.joined;
});
afterAll(() => results.stop());

const deps = () => ({
  db: results.database.db,
  logger,
  ownPrefix: ownSegmentPrefix(results.database),
  loops: createTaskLoops(logger, ['compaction', 'deletions', 'fold', 'overdue_ends', 'stored_frames']),
  partitions: createPartitionKeeper(results.database.db, 90),
  settings: { ...testSettings, hotMs: 0 },
  signals: createSignals(logger),
  store: createSegmentStore(results.s3),
  ...foldParts(results.database.db),
});

/** Number of rows of a task by table; tables without rows are omitted. */
async function leftOf(task: string): Promise<Record<string, number>> {
  const counts = await Promise.all(
    resultTablesOfATask.map(
      async (table) => [table, (await results.database.db(table).where({ task_id: task })).length] as const,
    ),
  );
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

const objectsOf = async (task: string) => (await results.s3.objects()).filter((key) => key.includes(task));
const statusOf = async (task: string, view: string) => (await results.get(`/v1/vision/tasks/${task}/${view}`)).status;
const views = ['results', 'results/stream', 'tracks', 'source'];
const deleteThem = async (...taskIds: string[]) => {
  const answer = await results.ask('/internal/v1/deleted-tasks', { task_ids: taskIds });
  return [answer.status, ((await answer.json()) as { task_ids: string[] }).task_ids];
};

const source = (task: string, n: number) => ({
  job_id: task,
  attempt: 1,
  n,
  at_ms: 1_790_000_000_000 + n,
  since_ms: 1_790_000_000_000 + n,
  state: 'streaming' as const,
});

async function deliverSource(task: string, n: number): Promise<unknown> {
  const id = randomUUID();
  await results.producer.publish([{ ...sourceChanged, key: task, source: 'inference', data: source(task, n), id }]);
  return untilSettled(results.service.consumers.jobs, id);
}

const ended = (task: string) => snapshot(task, 'subject-a', { version: 2, status: 'succeeded' });

/** Stores the row of the image of a track, whose object is no longer in the store. */
async function storeImage(task: string): Promise<void> {
  const image = { attempt: 1, n: 1, seq: 2, frame_time_ms: 400, width: 64, height: 128, bytes: 10, object_key: null };
  const row = { task_id: task, track_id: '8', day: dayOfTask(task), ...image };
  await results.database.db('track_snapshots').insert(row);
  await noteWriter(results.database.db, TRACK_SNAPSHOTS, WRITER);
}

/** Creates a task with all kinds of stored data: hot and cold segments, late frames, tracks, an image, a source. */
async function fullTask(): Promise<string> {
  const task = newTaskId();
  await results.tell(snapshot(task, 'subject-a'));
  await results.deliver(framesOf(task, 0, 700));
  await results.database
    .db('ingests')
    .where({ task_id: task })
    .update({ compact_at: new Date(0) });
  await compactFrames(deps(), new AbortController().signal);
  // The service drops copies of objects that it has read back, every ten seconds.
  await results.database
    .db('segment_copies')
    .where({ task_id: task })
    .update({ lease_until: new Date('2100-01-01') });
  // Hours later: the earlier tracks and minutes are complete, so they are stored.
  const objects = [{ ...object(0.9), track_id: '8' }];
  const later = (data: FrameData) => ({ ...data, frame_time_ms: 8 * HOUR_MS + data.seq, objects });
  await results.deliver(framesOf(task, 705, 10).map(later));
  await results.deliver([frame(task, 701), mark(task)]);
  await deliverSource(task, 1);
  await foldTask(deps(), task);
  await storeImage(task);
  return task;
}

test('everything of a deleted task goes, and nothing that is published again brings any of it back', async () => {
  const [task, other] = [await fullTask(), await fullTask()];
  expect(await formsOf(results.database.db, task)).toMatchObject({ hot: expect.any(Number), cold: 700 });
  expect(Object.keys(await leftOf(task))).toEqual(resultTablesOfATask.filter((table) => table !== 'frames'));
  const before = await leftOf(other);
  expect(await deleteThem(task)).toEqual([200, [task]]);
  const assertGone = async () => {
    expect(await leftOf(task)).toEqual({});
    for (const view of views) expect([view, await statusOf(task, view)]).toEqual([view, 404]);
  };
  await assertGone();
  await results.tell(ended(task));
  await results.deliver([...framesOf(task, 0, 20), frame(task, 900), mark(task, { frames_published: 3 })]);
  await results.deliver([frame(task, 0, { attempt: 2 }), mark(task, { attempt: 2 })]);
  await deliverSource(task, 2);
  await foldTask(deps(), task);
  await assertGone();
  expect(await deleteThem(task)).toEqual([200, [task]]);
  expect(await leftOf(other)).toEqual(before);
  expect(await statusOf(other, 'results')).toBe(200);
  // The sweep removes its objects; those of the other task stay.
  const { db } = results.database;
  expect(await objectsOf(task)).not.toEqual([]);
  await db('unindexed_objects').update({ noted_at: new Date(0) });
  await sweepSegmentObjects(deps());
  expect(await objectsOf(task)).toEqual([]);
  expect(await objectsOf(other)).not.toEqual([]);
});

test('the whole topic of frames again from offset 0 brings nothing of a deleted task back', async () => {
  const task = await fullTask();
  await deleteThem(task);
  const { db } = results.database;
  const again = createBatchConsumer({
    db,
    kafka: results.kafka.client,
    groupId: 'frames-from-the-start',
    topic: topics.frames,
    definitions: [frameProduced, jobEnded],
    handle: frameHandler({ ...deps(), liveRules: noRules }),
    onFatal: (error) => logger.fatal(error),
  });
  again.start();
  try {
    const ends = [0, 1].map((partition) => ({ partition, id: randomUUID() }));
    await results.producer.publishRaw(
      ends.map(({ partition, id }) => ({
        topic: topics.frames,
        partition,
        value: '{}',
        headers: { ce_id: id, ce_type: 'test.end', ce_source: 'test', ce_specversion: '1.0' },
      })),
    );
    await Promise.all(ends.map(({ id }) => untilSettled(again, id)));
  } finally {
    await again.stop(10_000);
  }
  expect(await leftOf(task)).toEqual({});
  expect(await db('ingests').where({ task_id: task }).first('stored', 'position')).toEqual({ stored: 0, position: 0 });
});

test('a task of which nothing has arrived can be deleted, and refuses what arrives then', async () => {
  const task = newTaskId();
  expect(await deleteThem(task)).toEqual([200, [task]]);
  await results.tell(ended(task));
  await results.deliver([frame(task, 0), mark(task)]);
  await deliverSource(task, 1);
  expect(await leftOf(task)).toEqual({});
  expect(await statusOf(task, 'results')).toBe(404);
});

test('what a process of an earlier release stores of a deleted task is hidden, and removed when the deletion is repeated', async () => {
  const task = newTaskId();
  await deleteThem(task);
  const { db } = results.database;
  const { version, subject, status, lower_bound, default_min_score, result_expires_at, kind } = ended(task);
  await db('task_views').insert({
    task_id: task,
    version,
    subject,
    status,
    lower_bound,
    default_min_score,
    result_expires_at,
    kind,
  });
  await db('sources').insert({ task_id: task, attempt: 1, n: 1, snapshot: '{}', earlier: '{}', states: 1 });
  for (const view of views) expect([view, await statusOf(task, view)]).toEqual([view, 404]);
  expect(await deleteThem(task)).toEqual([200, [task]]);
  expect(await leftOf(task)).toEqual({});
});

test('the object store is not asked for images when there has never been one', async () => {
  const { db } = results.database;
  const task = newTaskId();
  await results.tell(snapshot(task, 'subject-a'));
  await results.deliver(framesOf(task, 0, 5));
  const writers = await db('bucket_owner').where({ name: TRACK_SNAPSHOTS }).delete().returning('*');
  const away = createSegmentStore({ ...results.s3, endpoint: 'http://127.0.0.1:1' });
  try {
    expect(await deleteTasks({ ...deps(), store: away }, [task])).toEqual([task]);
    expect(await leftOf(task)).toEqual({});
  } finally {
    away.close();
    if (writers.length > 0) await db('bucket_owner').insert(writers);
  }
});

test('a fold that runs while its task is deleted stores nothing', async () => {
  const task = newTaskId();
  await results.tell(snapshot(task, 'subject-a'));
  await results.deliver(framesOf(task, 0, 5));
  const { db } = results.database;
  await db('ingests').where({ task_id: task }).update({ fold_at: null });
  const tx = await db.transaction();
  expect(await lockFold(tx, task, 0)).toBe(true);
  const deleting = deleteThem(task);
  await until(async () => {
    const { rows } = await db.raw<{ rows: unknown[] }>(
      `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into folds%'
          and datname = current_database()`,
    );
    return rows.length > 0;
  });
  await tx.commit();
  expect(await deleting).toEqual([200, [task]]);
  expect(await leftOf(task)).toEqual({});
  expect(await db.transaction((later) => lockFold(later, task, 0))).toBe(false);
  expect(await leftOf(task)).toEqual({});
});

test.each([
  ['a state of its source', (tx: Knex.Transaction, task: string) => storeSource({ db: tx }, source(task, 1))],
  ['a view of it', (tx: Knex.Transaction, task: string) => learnTask(tx, ended(task))],
])('%s that is being stored when a task is deleted leaves nothing behind, with frames or without', async (_, store) => {
  for (const frames of [5, 0]) await storeWhileDeleted(store, frames);
});

async function storeWhileDeleted(
  store: (tx: Knex.Transaction, task: string) => Promise<unknown>,
  frames: number,
): Promise<void> {
  const task = newTaskId();
  if (frames > 0) await results.deliver(framesOf(task, 0, frames));
  const { db } = results.database;
  const tx = await db.transaction();
  await store(tx, task);
  let isDone = false;
  const deleting = deleteThem(task).finally(() => (isDone = true));
  await until(async () => {
    const { rows } = await db.raw<{ rows: unknown[] }>(
      `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return isDone || rows.length > 0;
  });
  await tx.commit();
  expect(await deleting).toEqual([200, [task]]);
  expect(await leftOf(task)).toEqual({});
}

test.each(['results.task_hidden', 'results.task_segments_removed', 'results.task_images_removed'])(
  'a task that was deleted when the process died at %s is hidden, and the next process removes the rest',
  async (crashAt) => {
    const task = await fullTask();
    const [port, healthPort] = [await freePort(), await freePort()];
    const dying = startProcess('results', {
      ...settingsOfStore(results.s3),
      CRASH_AT: crashAt,
      HOST: '127.0.0.1',
      PORT: String(port),
      HEALTH_PORT: String(healthPort),
      DATABASE_URL: results.database.url,
      KAFKA_BROKERS: '127.0.0.1:1',
      SERVICE_KEY: testServiceKey('results'),
      SERVICE_PUBLIC_KEYS: testPublicKeys,
      CURSOR_KEYS: 'cursor-key-cursor-key-cursor-key-cursor',
      TASKS_URL: results.tasks.url,
      IMAGES_URL: results.images.url,
    });
    try {
      await untilReady(dying, healthPort);
      const authorization = `Bearer ${await testToken('tasks', 'results', { subject: 'tasks' })}`;
      await fetch(`http://127.0.0.1:${port}/internal/v1/deleted-tasks`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ task_ids: [task] }),
      }).catch(() => undefined);
      expect(await dying.ended).toBe('SIGKILL');
    } finally {
      await dying.stop();
    }
    expect(await leftOf(task)).not.toEqual({});
    for (const view of views) expect([view, await statusOf(task, view)]).toEqual([view, 404]);
    expect(await deleteThem(task)).toEqual([200, [task]]);
    expect(await leftOf(task)).toEqual({});
  },
);

test('audits find no difference in a deleted task', async () => {
  const task = await fullTask();
  await results.tell({ ...ended(task), ended_at: new Date().toISOString(), frames_published: 711 });
  await deleteThem(task);
  const answer = await results.call('POST', '/internal/v1/audits/run', 'operator');
  expect(answer.status).toBe(200);
  expect(await answer.text()).not.toContain(task);
});
