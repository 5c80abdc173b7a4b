import type { Knex } from 'knex';
import { dayOfTask } from '@vision/contracts/ids';
import { fail } from '@vision/contracts/errors';
import { inTransaction } from '@vision/shared/db/transaction';
import { findFold, requestFold, revisionOfFold } from '../db/folds.ts';
import { tracksOfIds } from '../db/tracks.ts';
import { nothingRead } from '../domain/cursor.ts';
import type { Progress } from '../domain/cursor.ts';
import { decodeState } from '../domain/fold/codec.ts';
import { paceOf } from '../domain/fold/pace.ts';
import type { Pace } from '../domain/fold/pace.ts';
import { attemptsOf, emptyState } from '../domain/fold/state.ts';
import type { FoldState } from '../domain/fold/state.ts';
import { mergeTracks } from '../domain/fold/tracks.ts';
import type { TrackFacts } from '../domain/fold/tracks.ts';
import type { Deps } from './deps.ts';
import { foldPages } from './fold-pages.ts';

export type ReadFoldDeps = Pick<Deps, 'db' | 'signals' | 'store' | 'wakeFold'>;

/** Pages of frames that a request folds itself; what lies behind them is left to the background. */
const PAGES = 4;
/** A fold that stores its progress during the request makes it begin again. */
const TRIES = 20;

/** What is known of the tracks and minutes of a task, with the frames that are not folded yet. */
export interface FoldView {
  day: string;
  /** Every stored frame is in it. */
  isWhole: boolean;
  /** Every frame up to this number and at this position or before is in it, and no other. */
  progress: Progress;
  /** Position of the newest frame that was stored when it was read. */
  position: number;
  pace: Pace;
  newestMs: number | undefined;
  oldestMs: number | undefined;
  attempts: ReadonlyMap<number, number>;
  state: FoldState;
  /** Tracks with facts beyond their row, whole; and of those that have a row, what it says. */
  tracks: Map<string, TrackFacts>;
  rows: Map<string, TrackFacts>;
}

/**
 * Reads rows, state and the frames behind it as of one moment: `read` gets the view and a transaction in which the rows
 * are those of the view.
 */
export async function readFold<T>(
  deps: ReadFoldDeps,
  taskId: string,
  read: (view: FoldView, tx: Knex.Transaction) => Promise<T>,
): Promise<T> {
  const day = dayOfTask(taskId) ?? '';
  for (let left = TRIES; left > 0; left -= 1) {
    const { stored, fold, sampleFps } = await findFold(deps.db, taskId);
    const state = fold ? decodeState(fold.state) : emptyState();
    const pace = paceOf(sampleFps);
    const from = fold ?? nothingRead;
    const { progress, hasMore } = await foldPages(deps, taskId, { task: stored, state, pace, from, pages: PAGES });
    if (hasMore) {
      await requestFold(deps.db, taskId);
      deps.wakeFold();
    }
    const answer = await inTransaction(
      deps.db,
      async (tx) => {
        if ((await revisionOfFold(tx, taskId)) !== (fold?.revision ?? 0)) return undefined;
        const parts = [...state.ended.values(), ...state.open.values()];
        const rows = await tracksOfIds(tx, { day, taskId }, [...new Set(parts.map(({ trackId }) => trackId))]);
        return {
          value: await read(
            viewOf({ day, state, pace, progress, position: stored.position, isWhole: !hasMore }, rows),
            tx,
          ),
        };
      },
      { isolationLevel: 'repeatable read' },
    );
    if (answer) return answer.value;
  }
  throw fail.sysUnavailable('database_unavailable', new Error('the fold of the task changed again and again'));
}

function viewOf(
  read: Pick<FoldView, 'day' | 'state' | 'pace' | 'progress' | 'position' | 'isWhole'>,
  rows: TrackFacts[],
): FoldView {
  const { state } = read;
  const tracks = new Map(rows.map((row) => [row.trackId, row]));
  for (const part of [...state.ended.values(), ...state.open.values()]) {
    const known = tracks.get(part.trackId);
    tracks.set(part.trackId, known ? mergeTracks(known, part) : part);
  }
  const { newestMs, oldestMs } = state;
  return {
    ...read,
    newestMs,
    oldestMs,
    attempts: attemptsOf(state),
    tracks,
    rows: new Map(rows.map((row) => [row.trackId, row])),
  };
}
