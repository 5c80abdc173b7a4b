import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { migrate } from '@vision/shared/db/migrate';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { migrations } from '../src/db/migrations/list.ts';
import { newTaskId } from './support.ts';

const before = (name: string) =>
  migrations.slice(
    0,
    migrations.findIndex((migration) => migration.name === name),
  );
const NEWEST = '0023-no-more-rows';

let database: TestDatabase;
/** A database of release 0.2, which reads rows only. */
beforeEach(async () => {
  database = await createTestDatabase(before('0009-segments'));
});
afterEach(() => database.drop());

const isMigrated = async () => (await database.db('schema_migrations').where({ name: NEWEST })).length === 1;

test('a database that still stores rows is refused, with what to do, until 0.3 was set to store segments', async () => {
  // Empty tables prove nothing: an old replica may run although it has stored nothing yet.
  await expect(migrate(database.db, migrations)).rejects.toThrow(
    'With release 0.3, start results once with WRITE_SEGMENTS=true',
  );
  expect(await isMigrated()).toBe(false);
  // Change that release 0.3 makes at its start with this setting.
  await database.db('frame_form').update({ form: 'segments' });
  await migrate(database.db, migrations);
  expect(await isMigrated()).toBe(true);
});

test('frames that cannot become segments are refused until their task is gone', async () => {
  await database.drop();
  database = await createTestDatabase(before(NEWEST));
  const task = newTaskId();
  await database.db('ingests').insert({ task_id: task, late_position: 2, late_listed: 0 });
  await expect(migrate(database.db, migrations)).rejects.toThrow('Keep release 0.3 until their tasks have expired');
  await database.db('ingests').where({ task_id: task }).delete();
  await migrate(database.db, migrations);
  expect(await isMigrated()).toBe(true);
});

test('rows that only wait to be moved are no obstacle', async () => {
  await database.drop();
  database = await createTestDatabase(before(NEWEST));
  const [task, day] = [newTaskId(), new Date().toISOString().slice(0, 10)];
  await database.db.raw(`create table rows_of_test partition of frames for values in ('${day}')`);
  const image = { frame_time_ms: 0, width: 1, height: 1, objects: '' };
  await database.db('frames').insert({ day, task_id: task, seq: 0, attempt: 1, position: 1, ...image });
  await database.db('ingests').insert({ task_id: task, stored: 1, position: 1, max_seq: 0 });
  await migrate(database.db, migrations);
  expect(await isMigrated()).toBe(true);
});

test('a database whose first migration was interrupted is not one of an earlier release', async () => {
  await database.drop();
  database = await createTestDatabase(before('0005-frames-published'));
  await migrate(database.db, migrations);
  expect(await isMigrated()).toBe(true);
});
