import type { Knex } from 'knex';
import { cursorCodec } from '../../services/results/src/domain/cursor.ts';
import { parseResultQuery } from '../../services/results/src/domain/result-query.ts';
import { getResults } from '../../services/results/src/use-cases/read/get-results.ts';
import { atMost, median, timed } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { showTask } from '../serve-pages.ts';
import { syntheticFrame, syntheticTaskId } from '../synthetic-frames.ts';
import { depsOf, keepFrames } from './parts.ts';

const [FEW, MANY] = [10_000, 10_000_000];
/** Frames of more than an hour, which are all stored. */
const STORED = 18_600;
const SEGMENT = 600;
const PAGE = 500;
const BATCH = 500;
const HOUR_MS = 3_600_000;
const PERIOD_MS = 200;
const [ROUNDS, WARM_UP] = [60, 15];

interface Page {
  items: unknown[];
  next_cursor: string;
}

/**
 * The first 500 frames of the last hour, by `from_ms`: of a task of 10,000 frames, and of one with 10 million. Of its
 * frames before that hour there are only rows of the index, which have no object behind them.
 */
export async function searchFigures(db: Knex): Promise<Figure[]> {
  const deps = { ...depsOf(db), cursors: cursorCodec(['bench-key-bench-key-bench-key-bench-key']) };
  const [few, many] = [await taskOfFrames(db, FEW), await taskOfFrames(db, MANY)];
  await db.raw('analyze segments');
  const read = async (taskId: string, count: number) => {
    const from = { limit: String(PAGE), from_ms: String(Math.max(0, count * PERIOD_MS - HOUR_MS)) };
    let frames = 0;
    // A machine that is busy gives a page before it is full.
    for (let cursor = ''; frames < PAGE;) {
      const query = parseResultQuery({ ...from, cursor });
      const page = JSON.parse((await getResults(deps, { subject: 'bench', taskId, query })).toString()) as Page;
      frames += page.items.length;
      cursor = page.next_cursor;
      if (cursor === '') break;
    }
    if (frames < PAGE) throw new Error(`the last hour has ${frames} frames`);
  };
  const [ofFew, ofMany]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    ofFew.push(await timed(() => read(few, FEW)));
    ofMany.push(await timed(() => read(many, MANY)));
  }
  const [small, large] = [median(ofFew.slice(WARM_UP)), median(ofMany.slice(WARM_UP))];
  return [
    { name: 'last hour by from_ms of a task of 10 million frames, p50', value: large, unit: 'ms' },
    {
      name: 'over one of a task of 10,000 frames',
      value: large / small,
      unit: 'ratio',
      target: atMost(1.3),
      floor: atMost(1.5),
    },
  ];
}

/** A task with so many frames: those of the last hour are stored, before them stand copies of their index entries. */
async function taskOfFrames(db: Knex, count: number): Promise<string> {
  const deps = depsOf(db);
  const taskId = syntheticTaskId();
  await showTask(db, taskId);
  const first = Math.max(0, count - STORED);
  for (let seq = first; seq < count; seq += BATCH)
    await keepFrames(
      deps,
      Array.from({ length: BATCH }, (_, at) => syntheticFrame(taskId, seq + at, 3)),
    );
  if (first === 0) return taskId;
  await db('ingests').where({ task_id: taskId }).update({ position: count, stored: count });
  await db.raw(
    `insert into segments (day, task_id, first_seq, last_seq, first_position, last_position, first_time_ms, last_time_ms,
            frames, attempts, labels, best_score, heads, object_key, bytes, checksum)
     select day, task_id, n * ${SEGMENT}, (n + 1) * ${SEGMENT} - 1, n * ${SEGMENT}::bigint + 1, (n + 1) * ${SEGMENT}::bigint,
            n * ${SEGMENT}::bigint * ${PERIOD_MS}, ((n + 1) * ${SEGMENT}::bigint - 1) * ${PERIOD_MS}, ${SEGMENT},
            jsonb_build_object('1', jsonb_build_array(${SEGMENT}, n * ${SEGMENT}, (n + 1) * ${SEGMENT} - 1)), labels, best_score, heads,
            'bench/nothing-' || n, bytes, checksum
       from (select * from segments where task_id = :taskId order by first_seq limit 1) as one,
            generate_series(0, :last) as n`,
    { taskId, last: Math.floor(first / SEGMENT) - 1 },
  );
  return taskId;
}
