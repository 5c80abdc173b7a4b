import type { Knex } from 'knex';
import { dayOfTask } from '@vision/contracts/ids';
import { trackCursorCodec } from '../../services/results/src/domain/track-cursor.ts';
import { parseTrackQuery } from '../../services/results/src/domain/track-query.ts';
import { foldTask } from '../../services/results/src/use-cases/fold/fold-task.ts';
import { listTracks } from '../../services/results/src/use-cases/read/list-tracks.ts';
import { atLeast, atMost, median, timed } from '../figures.ts';
import type { Figure } from '../figures.ts';
import { showTask } from '../serve-pages.ts';
import { syntheticFrame, syntheticTaskId } from '../synthetic-frames.ts';
import { depsOf, keepFrames } from './parts.ts';

const [FEW, MANY] = [1_000, 100_000];
const ROUNDS = 110;
const WARM_UP = 30;
const PAGE = 100;

/** Pages of stored tracks with images, beside two statements that ask for the same rows and columns. */
export async function trackFigures(db: Knex): Promise<Figure[]> {
  const deps = { ...depsOf(db), trackCursors: trackCursorCodec(['bench-key-bench-key-bench-key-bench-key']) };
  const [few, many] = [await taskOfTracks(db, FEW), await taskOfTracks(db, MANY)];
  await db.raw('analyze tracks, track_snapshots');
  const query = parseTrackQuery({ limit: String(PAGE) });
  const page = (taskId: string) => listTracks(deps, { subject: 'bench', taskId, query });
  const { items } = await page(many);
  const found = await statements(db, many);
  if (items.length !== PAGE || items.some(({ snapshot }) => snapshot.state !== 'available') || found !== PAGE + 1)
    throw new Error(`the page has ${items.length} tracks, the statements ${found}`);
  const [ofFew, ofMany, bare]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    ofFew.push(await timed(() => page(few)));
    ofMany.push(await timed(() => page(many)));
    bare.push(await timed(() => statements(db, many)));
  }
  const [small = 1, large = 1, alone = 0] = [ofFew, ofMany, bare].map((times) => median(times.slice(WARM_UP)));
  return [
    { name: `page of ${PAGE} of ${MANY} tracks, p50`, value: large, unit: 'ms' },
    {
      name: `over one of ${FEW} tracks`,
      value: large / small,
      unit: 'ratio',
      target: atMost(1.2),
      floor: atMost(1.5),
    },
    {
      name: 'statements for the same rows and columns over it',
      value: alone / large,
      unit: 'ratio',
      target: atLeast(0.5),
      floor: atLeast(0.2),
    },
  ];
}

/** The rows of a page as a reader would ask for them who needs nothing but rows; returns how many tracks. */
async function statements(db: Knex, taskId: string): Promise<number> {
  const tracks = await db.raw<{ rows: { track_id: string }[] }>(
    `select track_id, label, frames, changed, facts from tracks
      where day = :day and task_id = :taskId order by first_time_ms, track_id limit :limit`,
    { day: dayOfTask(taskId) ?? '', taskId, limit: PAGE + 1 },
  );
  const ids = tracks.rows.map((row) => row.track_id).slice(0, PAGE);
  const images = await db.raw<{ rows: unknown[] }>(
    `select track_id, attempt, n, seq, frame_time_ms, width, height, bytes, object_key, stored_at from track_snapshots
      where task_id = :taskId and track_id = any(:ids::text[])`,
    { taskId, ids },
  );
  return Math.min(tracks.rows.length, images.rows.length + 1);
}

/** A task with so many tracks with images; they are copies of one, at other times. */
async function taskOfTracks(db: Knex, count: number): Promise<string> {
  const deps = depsOf(db);
  const taskId = syntheticTaskId();
  await showTask(db, taskId);
  await keepFrames(
    deps,
    Array.from({ length: 40 }, (_, seq) => twoTracks(taskId, seq)),
  );
  await foldTask(deps, taskId);
  const copied = await db.raw<{ rowCount: number }>(
    `insert into tracks (day, task_id, track_id, label, first_time_ms, last_time_ms, frames, best_score, changed, facts)
     select day, task_id, 'copy-' || n, label, first_time_ms + n * 1000, last_time_ms + n * 1000, frames, 950000, changed, facts
       from (select * from tracks where task_id = :taskId limit 1) as one, generate_series(1, :count) as n`,
    { taskId, count },
  );
  if (copied.rowCount !== count) throw new Error('the first track is not stored');
  await db.raw(
    `insert into track_snapshots (task_id, track_id, day, attempt, n, seq, frame_time_ms, width, height, bytes, object_key)
     select task_id, track_id, day, 1, 1, 7, first_time_ms, 180, 402, 18240, 'track-snapshots/bench/' || track_id || '-1.jpg'
       from tracks where task_id = :taskId`,
    { taskId },
  );
  return taskId;
}

/** Some seconds of one object, and hours later another: the first track has ended, so it is a row. */
function twoTracks(taskId: string, seq: number) {
  const frame = syntheticFrame(taskId, seq, 1);
  const isFirst = seq < 20;
  return {
    ...frame,
    objects: frame.objects.map((object) => ({ ...object, track_id: isFirst ? 'a1-1' : 'a1-2' })),
    frame_time_ms: seq * 200 + (isFirst ? 0 : 8 * 3_600_000),
  };
}
