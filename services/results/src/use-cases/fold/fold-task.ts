import type { Knex } from 'knex';
import { dayOfTask } from '@vision/contracts/ids';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import { findFold, lockFold, planFold, saveFold } from '../../db/folds.ts';
import type { FoldPlan, FoldProgress, StoredFold } from '../../db/folds.ts';
import { FOLD_AFTER_MS } from '../../db/ingests.ts';
import { findHours, saveHours } from '../../db/timeline-hours.ts';
import { saveTracks, tracksOfIds } from '../../db/tracks.ts';
import { nothingRead } from '../../domain/cursor.ts';
import type { Progress } from '../../domain/cursor.ts';
import { decodeState, encodeState } from '../../domain/fold/codec.ts';
import { areMinutesDue, countTrack, mergeHour, takeDueMinutes } from '../../domain/fold/hours.ts';
import { encodeEvaluation } from '../../domain/fold/evaluation-state.ts';
import { copyOf } from '../../domain/fold/minutes.ts';
import { paceOf } from '../../domain/fold/pace.ts';
import { emptyState } from '../../domain/fold/state.ts';
import type { AlarmChange } from '../../domain/fold/rules/state.ts';
import type { FoldState } from '../../domain/fold/state.ts';
import { mergeTracks } from '../../domain/fold/tracks.ts';
import { announceAlarms } from './announce-alarms.ts';
import type { Deps } from '../deps.ts';
import { foldPages } from '../read/fold-pages.ts';
import { evaluateRest } from './evaluate-rest.ts';
import { openEvaluation } from './open-evaluation.ts';
import type { OpenEvaluation } from './open-evaluation.ts';

export type FoldDeps = Pick<
  Deps,
  'arrivals' | 'db' | 'partitions' | 'rules' | 'settings' | 'signals' | 'store' | 'wakeRelay'
>;

/** Pages of frames in one transaction. */
const PAGES = 4;
/** Transactions in one round: a task with months of frames does not delay others. */
const ROUNDS = 10;

/**
 * Folds the unfolded frames of a task into tracks and hours, and evaluates its alarm rules. The results, alarms
 * included, are stored in one transaction with the progress, provided that no other process folded the task in the
 * meantime: so each frame counts once, despite repeats and interruptions.
 */
export async function foldTask(deps: FoldDeps, taskId: string): Promise<FoldOutcome> {
  const day = dayOfTask(taskId);
  if (day === undefined) throw new Error(`${taskId} is no id of this system`);
  if ((await deps.partitions.ensure([day])).has(day)) {
    await planFold(deps.db, taskId, { position: Number.MAX_SAFE_INTEGER, ms: 0 });
    return { isSaved: true, open: undefined, position: 0 };
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const { hasMore, ...outcome } = await foldSome(deps, { day, taskId });
    if (!hasMore) return outcome;
  }
  await planFold(deps.db, taskId, { position: -1, ms: 0 });
  return { isSaved: true, open: undefined, position: 0 };
}

/** Outcome of a fold. */
export interface FoldOutcome {
  /** False when another process folded the task at the same time. */
  isSaved: boolean;
  /** The rules of the task, evaluated up to the position. */
  open: OpenEvaluation | undefined;
  position: number;
}

interface TaskOfDay {
  day: string;
  taskId: string;
}

/** `hasMore`: more stored frames are not folded yet. */
async function foldSome(deps: FoldDeps, { day, taskId }: TaskOfDay): Promise<FoldOutcome & { hasMore: boolean }> {
  const { db } = deps;
  const found = await findFold(db, taskId);
  const { stored, fold, nowMs } = found;
  const state = fold ? decodeState(fold.state) : emptyState();
  const pace = paceOf(found.sampleFps);
  const open = await openEvaluation(deps, taskId, { found, state, pace });
  const evaluation = open?.evaluation;
  const from = fold ?? nothingRead;
  const read = await foldPages(deps, taskId, { task: stored, state, pace, from, pages: PAGES, evaluation });
  const againMs =
    open && !read.hasMore ? await evaluateRest(deps, { ...open, taskId, position: stored.position, nowMs }) : undefined;
  const plan = read.hasMore ? undefined : planOf(found, open, againMs);
  const isMoved = read.progress.position > from.position || read.progress.seq > from.seq || evaluation?.hasChanged;
  const revision = fold?.revision ?? 0;
  const next = { state, progress: read.progress, revision: revision + 1, open, nowMs, plan };
  const isSaved = await (isMoved ? store(db, { day, taskId }, next) : planned(db, taskId, plan));
  if (isSaved) announce(deps, taskId, open);
  return { isSaved, open, position: stored.position, hasMore: isSaved && read.hasMore };
}

/** The rules of a task without any are not read again until they change. */
const planOf = (
  { stored, ruleSet }: FoldProgress,
  open: OpenEvaluation | undefined,
  againMs: number | undefined,
): FoldPlan => ({
  position: stored.position,
  ms: FOLD_AFTER_MS,
  againMs,
  ruleSet: { before: ruleSet, after: open?.ruleSet ?? 0 },
});

/** Smaller steps of a clock are jitter and are not reported. */
const SET_BACK_TOLD_MS = 1_000;

function announce(
  { signals, wakeRelay }: Pick<Deps, 'signals' | 'wakeRelay'>,
  taskId: string,
  open: OpenEvaluation | undefined,
): void {
  if (!open) return;
  const { setBackMs, crossingsLeftOut, changes } = open.evaluation;
  if (crossingsLeftOut > 0) signals.crossingsLeftOut(taskId, crossingsLeftOut);
  if (open.task.kind === 'stream' && setBackMs > SET_BACK_TOLD_MS) signals.clockSetBack(taskId, setBackMs);
  if (changes.length === 0) return;
  crashPoint('results.alarms_stored');
  for (const { kind, alarm } of changes) {
    if (alarm.closedMs !== undefined) signals.alarmClosed(kind);
    else signals.alarmOpened(kind, capturedMsOf(open, alarm));
  }
  wakeRelay();
}

/** Capture time of the frame that opened an alarm; undefined when there is none, or when its time is no time of day. */
function capturedMsOf({ task }: OpenEvaluation, { openedMs, evidence }: AlarmChange): number | undefined {
  const isByFrame = task.kind === 'stream' && evidence.frame?.timeMs === openedMs;
  return isByFrame ? openedMs : undefined;
}

interface NewFold {
  state: FoldState;
  progress: Progress;
  revision: number;
  open: OpenEvaluation | undefined;
  nowMs: number;
  plan: FoldPlan | undefined;
}

async function planned(db: Knex, taskId: string, plan: FoldPlan | undefined): Promise<true> {
  if (plan) await planFold(db, taskId, plan);
  return true;
}

/**
 * Returns false when another process has stored the fold of the task in the meantime. Most folds of a task end no track
 * and take one statement instead of a transaction.
 */
async function store(db: Knex, task: TaskOfDay, fold: NewFold): Promise<boolean> {
  const { state, revision, open, plan } = fold;
  const hasRows = state.ended.size > 0 || areMinutesDue(state) || (open && open.evaluation.changes.length > 0);
  const save = (by: Knex, rest: FoldState) => {
    crashPoint('results.fold_made');
    return saveFold(by, task.taskId, { fold: storedFold(fold, rest), plan });
  };
  // The first fold of a task verifies that it is not deleted.
  const isSaved =
    revision > 1 && !hasRows
      ? await save(db, state)
      : await inTransaction(db, async (tx) => {
          const isLocked = await lockFold(tx, task.taskId, revision - 1);
          return isLocked && save(tx, await storeRows(tx, task, fold));
        });
  if (isSaved) crashPoint('results.fold_stored');
  return isSaved;
}

/** Stores rows of ended tracks and of hours; returns the remaining state. A repeat begins with the same state. */
async function storeRows(tx: Knex.Transaction, task: TaskOfDay, { state, open, nowMs }: NewFold): Promise<FoldState> {
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
  if (open) await announceAlarms(tx, task.taskId, { changes: open.evaluation.changes, task: open.task, nowMs });
  return rest;
}

function storedFold({ progress, revision, open }: NewFold, rest: FoldState): StoredFold {
  const rules = open ? encodeEvaluation(open.evaluation.state()) : null;
  return { ...progress, revision, state: encodeState(rest), rules };
}
