import type { Knex } from 'knex';
import { dayOfTask } from '@vision/contracts/ids';
import { fail } from '@vision/contracts/errors';
import { inTransaction } from '@vision/shared/db/transaction';
import { findFold, requestFold, revisionOfFold } from '../../db/folds.ts';
import type { ReadableFold } from '../../db/folds.ts';
import { tracksOfIds } from '../../db/tracks.ts';
import { nothingRead } from '../../domain/cursor.ts';
import type { Progress } from '../../domain/cursor.ts';
import { decodeState } from '../../domain/fold/codec.ts';
import { paceOf } from '../../domain/fold/pace.ts';
import type { Pace } from '../../domain/fold/pace.ts';
import { attemptsOf, emptyState } from '../../domain/fold/state.ts';
import type { FoldState } from '../../domain/fold/state.ts';
import { mergeTracks } from '../../domain/fold/tracks.ts';
import type { TrackFacts } from '../../domain/fold/tracks.ts';
import type { Deps } from '../deps.ts';
import { foldPages } from './fold-pages.ts';

export type ReadFoldDeps = Pick<Deps, 'db' | 'signals' | 'store' | 'wakeFold'>;

/** Pages of frames that a request folds itself; the background folds the rest. */
const PAGES = 4;
/** Maximum number of attempts: a fold that stores its progress during the request restarts the read. */
const TRIES = 20;
/** Attempts without a transaction, which would add a third to the statements of a short response. */
const QUICK_TRIES = 5;

/** Tracks and minutes of a task, including the frames that are not folded yet. */
export interface FoldView {
  day: string;
  /** Every stored frame is in it. */
  isWhole: boolean;
  /** Exactly the frames up to this number and at or before this position are in it. */
  progress: Progress;
  /** Position of the newest stored frame at the time of the read. */
  position: number;
  pace: Pace;
  newestMs: number | undefined;
  oldestMs: number | undefined;
  attempts: ReadonlyMap<number, number>;
  state: FoldState;
  /** Complete facts of tracks with more facts than their row; `rows` has the rows of those with one. */
  tracks: Map<string, TrackFacts>;
  rows: Map<string, TrackFacts>;
  /**
   * Accepts the revision that the last row query of a reader returned; without it one more statement reads the
   * revision.
   */
  noteRevision: (revision: number) => void;
}

/** Reads the rows of these tracks, and may read more with them. */
type ReadRows = (db: Knex, task: { day: string; taskId: string }, ids: string[]) => Promise<TrackFacts[]>;

interface FoldReading {
  /** Fold progress of the task, when it was just read. */
  found?: ReadableFold | undefined;
  readRows?: ReadRows;
}

/**
 * Reads rows, state and the unfolded frames as of one instant. `read` gets the view and a database with the rows of
 * that view; otherwise its result is discarded and the read is repeated. A fold that changes rows increments the
 * revision in the same transaction, so rows that are read between two queries with the same revision belong to it.
 */
export async function readFold<T>(
  deps: ReadFoldDeps,
  taskId: string,
  read: (view: FoldView, db: Knex) => Promise<T>,
  { found, readRows = tracksOfIds }: FoldReading = {},
): Promise<T> {
  for (let left = TRIES; left > 0; left -= 1) {
    const known = left === TRIES ? found : undefined;
    const { revision, ...behind } = await readBehind(deps, taskId, known ?? (await findFold(deps.db, taskId)));
    const isCurrent = async (db: Knex) => (await revisionOfFold(db, taskId)) === revision;
    const attempt = async (db: Knex) => {
      // The snapshot of a transaction does not change after its first statement, however long reading takes.
      if (db.isTransaction && !(await isCurrent(db))) return undefined;
      let noted: number | undefined;
      const noteRevision = (one: number) => void (noted = one);
      const view = await viewOf(db, taskId, { ...behind, noteRevision }, readRows);
      const value = await read(view, db);
      const isSame = noted === undefined ? await isCurrent(db) : noted === revision;
      return isSame ? { value } : undefined;
    };
    const isQuick = left > TRIES - QUICK_TRIES;
    const answer = await (isQuick
      ? attempt(deps.db)
      : inTransaction(deps.db, attempt, { isolationLevel: 'repeatable read' }));
    if (answer) return answer.value;
  }
  throw fail.sysUnavailable('database_unavailable', new Error('the fold of the task changed again and again'));
}

type Behind = Omit<Known, 'noteRevision'>;
type Known = Pick<FoldView, 'noteRevision' | 'state' | 'pace' | 'progress' | 'position' | 'isWhole'>;

/** The stored state with the frames that are not folded yet, and its revision. */
async function readBehind(
  deps: ReadFoldDeps,
  taskId: string,
  { stored, fold, isFolded, sampleFps }: ReadableFold,
): Promise<Behind & { revision: number }> {
  const state = fold ? decodeState(fold.state) : emptyState();
  const pace = paceOf(sampleFps);
  const from = fold ?? nothingRead;
  const { progress, hasMore } = isFolded
    ? { progress: from, hasMore: false }
    : await foldPages(deps, taskId, { task: stored, state, pace, from, pages: PAGES });
  if (hasMore) {
    await requestFold(deps.db, taskId);
    deps.wakeFold();
  }
  const { position } = stored;
  return { state, pace, progress, position, isWhole: !hasMore, revision: fold?.revision ?? 0 };
}

async function viewOf(db: Knex, taskId: string, known: Known, readRows: ReadRows): Promise<FoldView> {
  const { state } = known;
  const day = dayOfTask(taskId) ?? '';
  const parts = [...state.ended.values(), ...state.open.values()];
  const stored = await readRows(db, { day, taskId }, [...new Set(parts.map(({ trackId }) => trackId))]);
  const rows = new Map(stored.map((row) => [row.trackId, row]));
  const tracks = new Map(rows);
  for (const part of parts) {
    const row = tracks.get(part.trackId);
    tracks.set(part.trackId, row ? mergeTracks(row, part) : part);
  }
  const { newestMs, oldestMs } = state;
  return { ...known, day, newestMs, oldestMs, attempts: attemptsOf(state), tracks, rows };
}
