import type { Knex } from 'knex';
import { inTransaction } from '@vision/shared/db/transaction';
import { findFold, lockFold, planFold, saveFold } from '../db/folds.ts';
import { FOLD_AFTER_MS } from '../db/ingests.ts';
import { findHours, saveHours } from '../db/timeline-hours.ts';
import { saveTracks, tracksOfIds } from '../db/tracks.ts';
import { nothingRead } from '../domain/cursor.ts';
import type { Progress } from '../domain/cursor.ts';
import { decodeState, encodeState } from '../domain/fold/codec.ts';
import { countTrack, mergeHour, takeDueMinutes } from '../domain/fold/hours.ts';
import { copyOf } from '../domain/fold/minutes.ts';
import { paceOf } from '../domain/fold/pace.ts';
import { emptyState } from '../domain/fold/state.ts';
import type { FoldState } from '../domain/fold/state.ts';
import { mergeTracks } from '../domain/fold/tracks.ts';
import { dayOfTask } from '../domain/task-day.ts';
import type { Deps } from './deps.ts';
import { foldPages } from './fold-pages.ts';

export type FoldDeps = Pick<Deps, 'db' | 'partitions' | 'signals' | 'store'>;

/** Pages of frames in one transaction. */
const PAGES = 4;
/** Transactions in one round: a task with months of frames does not hold up others. */
const ROUNDS = 10;

/**
 * Folds the frames of a task that are not folded yet into tracks and hours. What is made of them is stored in one
 * transaction with the progress, under the condition that no other process folded the task meanwhile: so each frame
 * counts once, whatever is repeated or interrupted.
 */
export async function foldTask(deps: FoldDeps, taskId: string): Promise<void> {
  const day = dayOfTask(taskId);
  if (day === undefined) throw new Error(`${taskId} is no id of this system`);
  if ((await deps.partitions.ensure([day])).has(day)) {
    await inTransaction(deps.db, (tx) => planFold(tx, taskId, { position: Number.MAX_SAFE_INTEGER, ms: 0 }));
    return;
  }
  for (let round = 0; round < ROUNDS; round += 1) if (!(await foldSome(deps, { day, taskId }))) return;
  await inTransaction(deps.db, (tx) => planFold(tx, taskId, { position: -1, ms: 0 }));
}

interface TaskOfDay {
  day: string;
  taskId: string;
}

/** Returns whether frames are left that were stored before. */
async function foldSome(deps: FoldDeps, { day, taskId }: TaskOfDay): Promise<boolean> {
  const { db } = deps;
  const { stored, fold, sampleFps } = await findFold(db, taskId);
  const state = fold ? decodeState(fold.state) : emptyState();
  const { progress, hasMore } = await foldPages(deps, taskId, {
    task: stored,
    state,
    pace: paceOf(sampleFps),
    from: fold ?? nothingRead,
    pages: PAGES,
  });
  const revision = fold?.revision ?? 0;
  const isSaved = await inTransaction(db, async (tx) => {
    if (!(await lockFold(tx, taskId, revision))) return false;
    await store(tx, { day, taskId }, { state, progress, revision: revision + 1 });
    if (!hasMore) await planFold(tx, taskId, { position: stored.position, ms: FOLD_AFTER_MS });
    return true;
  });
  return isSaved && hasMore;
}

interface NewFold {
  state: FoldState;
  progress: Progress;
  revision: number;
}

/** Rows of tracks that have ended and of hours, then the state that is left. A repeat begins with the same state. */
async function store(tx: Knex.Transaction, task: TaskOfDay, { state, progress, revision }: NewFold): Promise<void> {
  const rest: FoldState = { ...state, minutes: copyOf(state.minutes), ended: new Map() };
  const known = new Map((await tracksOfIds(tx, task, [...state.ended.keys()])).map((track) => [track.trackId, track]));
  const tracks = [...state.ended.values()].map((part) => {
    const before = known.get(part.trackId);
    const track = before ? mergeTracks(before, part) : part;
    countTrack(rest.minutes, track, before);
    return track;
  });
  await saveTracks(tx, task, tracks);
  const due = takeDueMinutes(rest);
  const hours = new Map((await findHours(tx, task, [...due.keys()])).map((hour) => [hour.hourMs, hour]));
  await saveHours(
    tx,
    task,
    [...due].map(([hourMs, more]) => mergeHour(hourMs, hours.get(hourMs), more)),
  );
  await saveFold(tx, task.taskId, { ...progress, revision, state: encodeState(rest) });
}
