import type { Knex } from 'knex';
import { createGate } from '@vision/shared/async/gate';
import { parseTimelineQuery } from '../../services/results/src/domain/timeline-query.ts';
import { foldTask } from '../../services/results/src/use-cases/fold/fold-task.ts';
import { getTimeline } from '../../services/results/src/use-cases/read/get-timeline.ts';
import { atMost, median, timed } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { syntheticFrame, syntheticTaskId } from '../synthetic-frames.ts';
import { depsOf, keepFrames, showUpload } from './parts.ts';

const HOUR_MS = 3_600_000;
const DAYS = 90;
const BATCH = 500;
const ROUNDS = 20;

/** Statements that look for frames; those of a timeline look behind the fold, where there are none. */
const OF_FRAMES = /\b(?:from|join) "?(?:frames|segments)\b/;

/** A statement and its answer, as knex tells them. */
interface Answered {
  sql: string;
  response?: { rowCount: number | null } | undefined;
}

/** Timelines of a day by the minute and of 90 days by the hour; neither opens frames. */
export async function timelineFigures(db: Knex): Promise<Figure[]> {
  const taskId = await taskOfHours(db, DAYS * 24);
  const deps = { ...depsOf(db), timelines: createGate({ concurrency: 1 }) };
  const read = (bucketMs: number, hours: number) => {
    const query = parseTimelineQuery({ bucket_ms: String(bucketMs), from_ms: '0', to_ms: String(hours * HOUR_MS) });
    return getTimeline(deps, { subject: 'bench', taskId, query, signal: new AbortController().signal });
  };
  let found = 0;
  const count = (_rows: unknown, { sql, response }: Answered) => {
    if (OF_FRAMES.test(sql)) found += response?.rowCount ?? 0;
  };
  db.on('query-response', count);
  const [byHour, byMinute]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    byHour.push(await timed(() => read(HOUR_MS, DAYS * 24)));
    byMinute.push(await timed(() => read(60_000, 24)));
  }
  const { items } = await read(HOUR_MS, DAYS * 24);
  db.removeListener('query-response', count);
  if (items.length < DAYS * 24 - 1) throw new Error(`the timeline has ${items.length} hours only`);
  const [long, short] = [median(byHour.slice(4)), median(byMinute.slice(4))];
  return [
    { name: `timeline of ${DAYS} days by the hour, p50`, value: long, unit: 'ms' },
    { name: 'over one day by the minute', value: long / short, unit: 'ratio', target: atMost(1.5), floor: atMost(2.5) },
    { name: 'frames and segments that they read', value: found, unit: 'rows', target: atMost(0) },
  ];
}

/** A task with so many hours; they are copies of the first one, and its newest frames lie behind them. */
async function taskOfHours(db: Knex, hours: number): Promise<string> {
  const deps = depsOf(db);
  const taskId = syntheticTaskId();
  await showUpload(db, taskId);
  const frames = HOUR_MS / 200;
  for (let from = 0; from < frames; from += BATCH)
    await keepFrames(
      deps,
      Array.from({ length: BATCH }, (_, at) => syntheticFrame(taskId, from + at, 3)),
    );
  const late = Array.from({ length: 20 }, (_, at) => ({
    ...syntheticFrame(taskId, frames + at, 3),
    frame_time_ms: hours * HOUR_MS + at * 200,
  }));
  await keepFrames(deps, late);
  await foldTask(deps, taskId);
  const copied = await db.raw<{ rowCount: number }>(
    `insert into timeline_hours (day, task_id, hour_ms, coverage, totals, minutes)
     select day, task_id, hour_ms + n::bigint * ${HOUR_MS}, coverage, totals, minutes
       from timeline_hours, generate_series(1, :last) as n where task_id = :taskId and hour_ms = 0`,
    { taskId, last: hours - 1 },
  );
  if (copied.rowCount !== hours - 1) throw new Error('the first hour is not stored');
  await db.raw('analyze timeline_hours');
  return taskId;
}
