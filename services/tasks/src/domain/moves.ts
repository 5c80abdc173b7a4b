import type { Job } from '@vision/contracts/inference';
import type { Status, Task } from './task.ts';

/**
 * Every move there is. A row in `undoing` is removed once what it holds was given back.
 * A stop that was asked for before the backend was known to have the task is applied when it is found.
 */
const moves = {
  /** Fits into the subject's active tasks. */
  admit: { from: ['draft'], to: 'admitted' },
  /** Refused, or its process died, before anything was sent. */
  give_up: { from: ['draft', 'admitted'], to: 'undoing' },
  /** Its process let the lease of its key run out, and another request with the same key goes on instead. */
  take_over: { from: ['draft', 'admitted'], to: 'undoing' },
  /** Units are reserved; committed before the backend is called. */
  submit: { from: ['admitted'], to: 'submitting' },
  /** The backend certainly did not get it: for callers there never was a task. */
  take_back: { from: ['submitting'], to: 'undoing' },
  /** The backend has it. */
  accept: { from: ['submitting', 'resolving'], to: 'running' },
  /** The backend refused it for good. */
  refuse: { from: ['submitting'], to: 'refunded' },
  /** The backend may have it. */
  lose_track: { from: ['submitting'], to: 'resolving' },
  /** The backend's own evidence that it has it. */
  find: { from: ['submitting', 'resolving'], to: 'running' },
  /** An operator says that the backend has it. */
  verify_created: { from: ['resolving'], to: 'running' },
  /** An operator says that it does not have it, and the backend acknowledged a stop for the id. */
  verify_not_created: { from: ['resolving'], to: 'refunded' },
  /** The caller, an operator, or the end of the longest allowed run. */
  stop: { from: ['running'], to: 'stopping' },
  /** The backend says how the job ended. A task fails by that or by `vanish`; no caller and no operator can say so. */
  end_stopped: { from: ['running', 'stopping'], to: 'stopped' },
  end_succeeded: { from: ['running', 'stopping'], to: 'succeeded' },
  end_failed: { from: ['running', 'stopping'], to: 'failed' },
  /** The backend had it and does not have it any more. */
  vanish: { from: ['running', 'stopping'], to: 'failed' },
} as const satisfies Record<string, { from: readonly Status[]; to: Status }>;

/** What makes a task move. */
export type Move = keyof typeof moves;
/** The state that a move leads to. */
export type StatusAfter<M extends Move> = (typeof moves)[M]['to'];

export const allMoves = Object.keys(moves) as readonly Move[];

/** The state after a move, or undefined when the move is not possible from this state. */
export function after<M extends Move>(move: M, from: Status): StatusAfter<M> | undefined {
  const possibleFrom: readonly Status[] = moves[move].from;
  return possibleFrom.includes(from) ? moves[move].to : undefined;
}

/** A move with what is to be remembered of it. `db/move-task.ts` says which columns that changes. */
export type Change =
  /** The scene and its thresholds are frozen from here on. */
  | { move: 'admit'; scene: Pick<Task, 'sceneCode' | 'lowerBound' | 'defaultMinScore' | 'snapshots'> }
  /** The recovery finishes the rollback when that was not done after this time. */
  | { move: 'give_up' | 'take_over' | 'take_back'; recoverAfterMs: number }
  /** The backend is asked about the job after this time, unless its answer to the submission came before. */
  | { move: 'submit'; askAfterMs: number }
  | { move: 'accept'; job: Pick<Job, 'status' | 'frames_published'> }
  | { move: 'find' | 'end_stopped' | 'end_succeeded' }
  | { move: 'refuse' | 'lose_track' | 'end_failed' | 'vanish'; reason: string }
  /** Who found out, and what. */
  | { move: 'verify_created' | 'verify_not_created'; who: string; note: string }
  | { move: 'stop'; by: StoppedBy };

/** Who wants a task stopped; of an operator also the name. */
export type StoppedBy = 'caller' | 'service' | { operator: string };
