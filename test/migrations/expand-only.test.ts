import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Migration } from '@vision/shared/db/migrate';
import { migrations as gateway } from '../../services/gateway/src/db/migrations/list.ts';
import { migrations as images } from '../../services/images/src/db/migrations/list.ts';
import { migrations as inference } from '../../services/inference/src/db/migrations/list.ts';
import { migrations as notify } from '../../services/notify/src/db/migrations/list.ts';
import { migrations as quota } from '../../services/quota/src/db/migrations/list.ts';
import { migrations as results } from '../../services/results/src/db/migrations/list.ts';
import { migrations as tasks } from '../../services/tasks/src/db/migrations/list.ts';
import { destructionsOf } from './destructive.ts';

const changelog = readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8');
const releases = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)\b/gm)].map(([, version]) => version);
const all = Object.entries({ gateway, images, inference, notify, quota, results, tasks }).flatMap(([service, list]) =>
  list.map((migration) => [`${service} ${migration.name}`, migration] as const),
);

test.each(all)('%s only adds, or removes what a release has stopped using', async (_name, migration) => {
  if (migration.contracts === undefined) expect(await destructionsOf(migration)).toEqual([]);
  else expect(releases).toContain(migration.contracts.unusedSince);
});

const sends = (sql: string): Migration => ({
  name: 'x',
  up: async (db) => {
    await db.raw(sql);
  },
  down: () => Promise.resolve(),
});

test.each([
  'drop table tasks',
  'alter table tasks drop column reason',
  'ALTER TABLE tasks RENAME COLUMN reason TO why',
  'alter table tasks rename to jobs',
  'alter table tasks alter column attempt type bigint',
  'alter table tasks alter attempt set data type bigint',
  'alter table tasks alter column reason set not null',
  'alter table tasks alter column stops_sent drop default',
  'alter table tasks add column note text not null',
  "alter table tasks add column a int not null default 0, add column note text not null check (note <> 'default')",
  'alter table tasks add constraint short check (length(reason) < 10)',
  'create unique index concurrently if not exists one_note on tasks (note)',
  'create table notes (id int); alter table tasks drop column reason',
  'drop index tasks_history',
  'drop function if exists vision_now',
  'truncate tasks',
  'delete from tasks',
])('refused: %s', async (sql) => {
  expect(await destructionsOf(sends(sql))).not.toEqual([]);
});

test.each([
  'create table notes (task_id uuid not null, text text not null unique)',
  'create table if not exists notes (id int); create unique index notes_id on notes (id)',
  'alter table tasks add column note text',
  'alter table tasks add column if not exists notes int not null default 0',
  'create index concurrently if not exists tasks_note on tasks (note) where note is not null',
  "comment on column tasks.note is 'drop table tasks; rename'",
  'create or replace function f() returns int language plpgsql as $$ begin delete from tasks; return 1; end $$',
])('allowed: %s', async (sql) => {
  expect(await destructionsOf(sends(sql))).toEqual([]);
});
