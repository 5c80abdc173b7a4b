import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createTaskLoops } from '@vision/shared/async/task-loops';
import { selectDifferences, setMark } from '@vision/shared/audit/differences';
import { createDb } from '@vision/shared/db/knex';
import { inTransaction } from '@vision/shared/db/transaction';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { createSignals } from '../src/signals.ts';
import { auditFrames } from '../src/use-cases/operate/audit-frames.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { storeFrames } from '../src/use-cases/store/store-frames.ts';
import { frame, logger, mark, newTaskId, testResults, testSettings } from './support.ts';

const PAGE = 200;
const signals = createSignals(logger);
const settings = { ...testSettings, auditAgeMs: 0 };

let database: TestDatabase;
beforeEach(async () => {
  database = await testResults();
});
afterEach(() => database.drop());

const auditWith = (db = database.db) =>
  auditFrames({
    db,
    settings,
    loops: createTaskLoops(logger, ['compaction', 'deletions', 'fold', 'overdue_ends', 'stored_frames']),
  });

async function findAll(audit: ReturnType<typeof auditWith>): Promise<number> {
  let rounds = 1;
  while (await audit.find()) rounds += 1;
  return rounds;
}

const keep = (task: string, count: number) =>
  storeFrames(
    { partitions: createPartitionKeeper(database.db, 90), settings, signals, wakeRelay: () => undefined },
    [
      ...Array.from({ length: count }, (_, seq) => ({ kind: 'frame' as const, data: frame(task, seq) })),
      { kind: 'end', data: mark(task, { attempt_frames: { count, first_seq: 0, last_seq: count - 1 } }) },
    ],
    (work) => inTransaction(database.db, work),
  );

/** Stores views of tasks that ended one after the other some minutes ago. */
async function end(taskIds: string[]): Promise<void> {
  await database.db.raw('alter table task_views disable trigger user');
  await database.db.raw(
    `insert into task_views (task_id, version, subject, status, lower_bound, default_min_score, ended_at,
            result_expires_at, changed_at)
     select id, 3, 'subject-a', 'succeeded', 0, 0, now(), now() + interval '1 day',
            now() - interval '5 minutes' + place * interval '1 microsecond'
       from unnest(?::uuid[]) with ordinality as task (id, place)`,
    [taskIds],
  );
}
const differing = async () => (await selectDifferences(database.db, 0, 1_000)).map(({ id }) => id);

test('tasks that end at once are audited page by page', async () => {
  const taskIds = Array.from({ length: 500 }, () => newTaskId());
  await database.db.raw(
    `insert into ingests (task_id, attempt, stored, attempt_stored, attempt_first, attempt_last, end_status)
     select id, 1, 0, 0, null, null, 'succeeded' from unnest(?::uuid[]) as task (id)`,
    [taskIds],
  );
  await end(taskIds);
  const pages: number[] = [];
  database.db.on('query-response', (rows: { rows?: { tasks?: unknown[] | null }[] }) => {
    const tasks = rows.rows?.[0]?.tasks;
    if (tasks) pages.push(tasks.length);
  });
  await findAll(auditWith());
  expect(Math.max(...pages)).toBe(PAGE);
  // Once by their counters, once by their stored frames.
  expect(pages.reduce((sum, length) => sum + length, 0)).toBeGreaterThanOrEqual(2 * taskIds.length);
  expect(await differing()).toEqual([]);
  // No task remains for another round.
  pages.length = 0;
  await findAll(auditWith());
  expect(pages).toEqual([]);
});

test('finds frames that were counted and not written by the counters alone', async () => {
  const [whole, torn, short] = [newTaskId(), newTaskId(), newTaskId()];
  for (const task of [whole, torn, short]) await keep(task, 3);
  const counters = await database
    .db('ingests')
    .where({ task_id: whole })
    .first<{ stored: number; unmatched_frames: number }>('stored', 'unmatched_frames');
  expect(counters).toEqual({ stored: 3, unmatched_frames: 0 });
  await database.db('ingests').where({ task_id: torn }).update({ stored: 4, unmatched_frames: -1 });
  await database.db('ingests').where({ task_id: short }).update({ attempt_stored: 2, attempt_last: 1 });
  await end([whole, torn, short]);
  // Nothing is left to count.
  await database.db('audit_marks').insert({ kind: 'stored_frames', mark: new Date() });
  const audit = auditWith();
  await audit.find();
  expect((await differing()).sort()).toEqual([torn, short].sort());
  // The stored frames decide: the counters of the attempt were wrong, its frames are not.
  expect((await audit.confirm([torn, short])).map(({ id }) => id)).toEqual([torn]);
});

test('tasks that end after the clock was ahead are audited', async () => {
  const task = newTaskId();
  await keep(task, 2);
  await database.db('segments').where({ task_id: task }).delete();
  await end([task]);
  for (const kind of ['stored_frames', 'stored_frames_counters'])
    await setMark(database.db, kind, new Date(Date.now() + 3_600_000));
  await findAll(auditWith());
  expect(await differing()).toEqual([task]);
});

test('a task whose frames cannot be counted in time blocks no other and stays a difference until it can be', async () => {
  const tasks = [newTaskId(), newTaskId(), newTaskId()] as const;
  for (const task of tasks) await keep(task, 2);
  const [, slow, last] = tasks;
  await database.db('segments').where({ task_id: last }).delete();
  await end([...tasks]);
  await database.db.raw('alter table segments rename to segments_all');
  await database.db.raw(
    `create view segments as
       select * from segments_all where case when task_id = '${slow}' then pg_sleep(60) is not null else true end`,
  );
  const db = createDb({ url: database.url, poolMax: 2, applicationName: randomUUID(), statementTimeoutMs: 2_000 });
  const audit = auditWith(db);
  await findAll(audit);
  expect((await differing()).sort()).toEqual([slow, last].sort());
  // The mark has passed all of them.
  await database.db('audit_differences').delete();
  await findAll(audit);
  expect(await differing()).toEqual([]);
  expect(await audit.confirm([slow])).toEqual([{ id: slow, details: { task_id: slow, uncounted: true } }]);
  await database.db.raw('drop view segments');
  await database.db.raw('alter table segments_all rename to segments');
  expect(await audit.confirm([slow])).toEqual([]);
  await db.destroy();
});

test('the frames of a task are counted in parts', async () => {
  const task = newTaskId();
  await keep(task, 3);
  await database.db.raw(
    `insert into segments (day, task_id, first_seq, last_seq, first_position, last_position, first_time_ms, last_time_ms,
            frames, attempts, heads, body, bytes, checksum)
     select day, task_id, n, n, n, n, 0, 0, 1, jsonb_build_object('1', jsonb_build_array(1, n, n)), heads, body, bytes, checksum
       from segments, generate_series(3, 4999) as n where task_id = ?`,
    [task],
  );
  const all = { count: 5_000, first_seq: 0, last_seq: 4_999 };
  await database
    .db('ingests')
    .where({ task_id: task })
    .update({ stored: 5_000, attempt_stored: 5_000, attempt_last: 4_999, end_frames: JSON.stringify(all) });
  await end([task]);
  expect(await auditWith().confirm([task])).toEqual([]);
  await database.db('segments').where({ task_id: task, first_seq: 4_999 }).delete();
  expect(await auditWith().confirm([task])).toMatchObject([
    { details: { counted: 5_000, frames: 4_999, last_attempt: { count: 4_999, first: 0, last: 4_998 } } },
  ]);
});
