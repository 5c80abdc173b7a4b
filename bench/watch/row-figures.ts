import type { Knex } from 'knex';
import { migrations } from '../../services/results/src/db/migrations/list.ts';
import { foldTask } from '../../services/results/src/use-cases/fold/fold-task.ts';
import { atMost } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { scratchDatabase } from '../scratch-database.ts';
import { syntheticFrame, syntheticTaskId } from '../synthetic-frames.ts';
import { depsOf, keepFrames, showUpload } from './parts.ts';

const SECONDS = 600;
/** A fold follows the frames by so much. */
const FOLD_S = 5;
const FPS = 5;
const TRACK_S = 20;

/** Versions of rows that the fold of a running stream writes: three objects at a time, each of them for 20 s. */
export async function rowFigures(): Promise<Figure[]> {
  // A connection tells its counts of rows when it pleases, so there is one, which is made to tell.
  const database = await scratchDatabase(migrations, 1);
  try {
    return await figuresOf(database.db);
  } finally {
    await database.drop();
  }
}

async function figuresOf(db: Knex): Promise<Figure[]> {
  const deps = depsOf(db);
  const taskId = syntheticTaskId();
  await showUpload(db, taskId);
  let written = 0;
  for (let second = 0; second < SECONDS; second += FOLD_S) {
    const frames = Array.from({ length: FOLD_S * FPS }, (_, at) => frameAt(taskId, second * FPS + at));
    await keepFrames(deps, frames);
    // Storing frames writes to the row of the task as well, with and without a fold.
    const before = await versions(db);
    await foldTask(deps, taskId);
    written += (await versions(db)) - before;
  }
  return [
    {
      name: 'row versions a second of the fold of a stream of 3 objects',
      value: written / SECONDS,
      unit: 'versions',
      target: atMost(0.6),
    },
  ];
}

function frameAt(taskId: string, seq: number) {
  const frame = syntheticFrame(taskId, seq, 3);
  const generation = Math.floor(seq / (TRACK_S * FPS));
  return { ...frame, objects: frame.objects.map((object, at) => ({ ...object, track_id: `a1-${generation}-${at}` })) };
}

/** Row versions written so far to the tables that a fold writes. The counts are told at the end of a statement. */
async function versions(db: Knex): Promise<number> {
  await db.raw('select pg_stat_force_next_flush()');
  const { rows } = await db.raw<{ rows: [{ written: number }] }>(
    `select coalesce(sum(n_tup_ins + n_tup_upd), 0)::float8 as written
       from pg_stat_user_tables where relname ~ '^(folds|ingests|tracks|timeline_hours)'`,
  );
  return rows[0].written;
}
