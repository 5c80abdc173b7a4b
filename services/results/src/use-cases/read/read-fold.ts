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

/** Pages of frames that a request folds itself; what lies behind them is left to the background. */
const PAGES = 4;
/** A fold that stores its progress during the request makes it begin again. */
const TRIES = 20;
/** Those of them that take no transaction, which would be a third of the statements of a short answer. */
const QUICK_TRIES = 5;

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
  /**
   * Takes the revision that the last statement of a reader which reads rows has found with them; without it one more
   * statement asks for it.
   */
  noteRevision: (revision: number) => void;
}

/** Reads the rows of these tracks, and may read more with them. */
type ReadRows = (db: Knex, task: { day: string; taskId: string }, ids: string[]) => Promise<TrackFacts[]>;

interface FoldReading {
  /** How far the task is folded, when that was just read. */
  found?: ReadableFold | undefined;
  readRows?: ReadRows;
}

/**
 * Reads rows, state and the frames behind it as of one moment: `read` gets the view and a database in which the rows
 * are those of the view, or what it reads is thrown away: a fold that changes rows gets a new revision in the same
 * transaction, so rows that are read between two looks at the same revision are those of it.
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
      // Rows of a transaction do not change from its first statement on, however slowly they are read.
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

/** The stored state with the frames that are not folded yet, and the revision that it is of. */
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
