import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { inTransaction } from '@vision/shared/db/transaction';
import { migrate } from '@vision/shared/db/migrate';
import { testMetrics } from '@vision/shared/testing/metrics';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { readFrameForm } from '../src/db/frame-form.ts';
import { migrations } from '../src/db/migrations/list.ts';
import { folds } from '../src/db/migrations/0016-folds.ts';
import { deletedTasks } from '../src/db/migrations/0017-deleted-tasks.ts';
import { alarmRules } from '../src/db/migrations/0018-alarm-rules.ts';
import { unmatchedFrames } from '../src/db/migrations/0013-unmatched-frames.ts';
import { createSignals } from '../src/signals.ts';
import { createPartitionKeeper } from '../src/use-cases/keep-partitions.ts';
import { storeFrames } from '../src/use-cases/store-frames.ts';
import { formsOf, frame, logger, mark, newTaskId, startResults, testResults, testSettings } from './support.ts';
import type { TestResults } from './support.ts';

const metrics = testMetrics();
const before = (name: string) =>
  migrations.slice(
    0,
    migrations.findIndex((migration) => migration.name === name),
  );
/** What release 0.2.0 has; it reads rows only. */
const rowsOnly = before('0009-segments');
const withoutStore = { S3_ENDPOINT: '' };

let database: TestDatabase;
let results: TestResults | undefined;
beforeEach(async () => {
  database = await createTestDatabase(rowsOnly);
});
afterEach(async () => {
  await stopRunning();
  await database.drop();
});

async function stopRunning(): Promise<void> {
  await results?.stop();
  results = undefined;
}

/** A process of this release on the database, instead of the one before. */
async function startAnew(settings: Record<string, string> = {}): Promise<TestResults> {
  await stopRunning();
  results = await startResults(settings, database);
  await results.service.consumers.frames.joined;
  return results;
}

/** Stores three frames; tells in which form, and what a reader of release 0.2.0 sees of them. */
async function storeThree({ deliver }: TestResults) {
  const task = newTaskId();
  await deliver([frame(task, 0), frame(task, 1), frame(task, 2)]);
  const seenByRowsOnly = await database.db('frames').where({ task_id: task }).orderBy('seq').pluck<number[]>('seq');
  return { ...(await formsOf(database.db, task)), seenByRowsOnly };
}
const inRows = { rows: 3, young: 0, old: 0, seenByRowsOnly: [0, 1, 2] };
const inSegments = { rows: 0, young: 3, old: 0, seenByRowsOnly: [] };
const keepsRows = () => metrics.sumOf('vision.results.keeps_rows');

test('frames stay rows after an upgrade, until the setting says once that they need not', async () => {
  await migrate(database.db, migrations);
  // An old replica may run although nobody has stored anything yet, or all of it has expired.
  expect(await storeThree(await startAnew())).toEqual(inRows);
  expect(await keepsRows()).toBe(1);
  await database.db('frames').delete();
  expect(await storeThree(await startAnew())).toEqual(inRows);

  expect(await storeThree(await startAnew({ WRITE_SEGMENTS: 'true' }))).toEqual(inSegments);
  expect(await keepsRows()).toBe(0);
  await database.db('segments').delete();
  expect(await storeThree(await startAnew())).toEqual(inSegments);
  expect(await storeThree(await startAnew({ WRITE_SEGMENTS: 'false' }))).toEqual(inRows);
  expect(await keepsRows()).toBe(0);
});

test('rows are not moved to the object store while an old replica may read them', async () => {
  await migrate(database.db, migrations);
  const soon = { SEGMENT_YOUNG_MS: '0', SEGMENT_INTERVAL_MS: '20' };
  const first = await startAnew(soon);
  const task = newTaskId();
  await first.deliver([frame(task, 0), mark(task, { frames_published: 1 })]);
  const due = { task_id: task, compact_at: new Date(0) };
  await database.db('ingests').where({ task_id: task }).update(due);
  await startAnew(soon);
  // What begins at the start of a process has ended when it has stopped, so it would have taken the task.
  await stopRunning();
  expect(await database.db('ingests').where(due)).toHaveLength(1);
  expect(await formsOf(database.db, task)).toEqual({ rows: 1, young: 0, old: 0 });
  await startAnew({ ...soon, WRITE_SEGMENTS: 'true' });
  await until(async () => (await formsOf(database.db, task)).old === 1);
});

test('after an upgrade the service needs no object store that it had no settings for', async () => {
  await migrate(database.db, migrations);
  const started = await startAnew(withoutStore);
  await until(async () => (await readiness(started))[0] === 200);
  expect(await storeThree(started)).toEqual(inRows);
});

test('a database of this release has segments from the start, and says that they need an object store', async () => {
  await database.drop();
  database = await testResults();
  expect(await storeThree(await startAnew())).toEqual(inSegments);
  expect(await keepsRows()).toBe(0);
  const started = await startAnew(withoutStore);
  const [status] = await until(async () => {
    const answer = await readiness(started);
    return answer[1].includes('S3_ENDPOINT is not set') ? answer : undefined;
  });
  expect(status).toBe(503);
});

test('a database whose first migration broke off is none of an earlier release', async () => {
  await database.drop();
  database = await createTestDatabase(before('0005-frames-published'));
  await migrate(database.db, migrations);
  expect(await readFrameForm(database.db)).toBe('segments');
});

test('a database that has segments already goes on with them', async () => {
  await migrate(database.db, before('0011-frame-form'));
  // What stores frames today writes columns and makes partitions that came later.
  await unmatchedFrames.up(database.db);
  await folds.up(database.db);
  await deletedTasks.up(database.db);
  await alarmRules.up(database.db);
  const deps = {
    partitions: createPartitionKeeper(database.db, 90),
    settings: testSettings,
    signals: createSignals(logger),
    wakeRelay: () => undefined,
  };
  const stored = { kind: 'frame' as const, data: frame(newTaskId(), 0) };
  await storeFrames(deps, [stored], (work) => inTransaction(database.db, work));
  await migrate(database.db, migrations);
  expect(await readFrameForm(database.db)).toBe('segments');
});

async function readiness({ service }: TestResults): Promise<[number, string]> {
  const answer = await fetch(`http://127.0.0.1:${service.healthPort}/health/ready`);
  return [answer.status, await answer.text()];
}
