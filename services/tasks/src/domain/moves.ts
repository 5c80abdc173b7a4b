import type { Job } from '@vision/contracts/inference';
import type { Status, Task } from './task.ts';

/**
 * All moves. A row in `undoing` is removed once its unit and its object are released.
 * A stop that was requested before the backend was known to have the task is applied when the task is found.
 */
const moves = {
  /** The task fits into the limit of active tasks of its subject. */
  admit: { from: ['draft'], to: 'admitted' },
  /** The request was refused, or its process died, before the submission. */
  give_up: { from: ['draft', 'admitted'], to: 'undoing' },
  /** The lease of its key expired, and another request with the same key continues instead. */
  take_over: { from: ['draft', 'admitted'], to: 'undoing' },
  /** Units are reserved; committed before the backend is called. */
  submit: { from: ['admitted'], to: 'submitting' },
  /** The backend certainly did not get the job: for callers the task never existed. */
  take_back: { from: ['submitting'], to: 'undoing' },
  /** The backend has the job. */
  accept: { from: ['submitting', 'resolving'], to: 'running' },
  /** The backend refused the job permanently. */
  refuse: { from: ['submitting'], to: 'refunded' },
  /** The backend may have the job. */
  lose_track: { from: ['submitting'], to: 'resolving' },
  /** The backend itself shows that it has the job. */
  find: { from: ['submitting', 'resolving'], to: 'running' },
  /** An operator confirms that the backend has the job. */
  verify_created: { from: ['resolving'], to: 'running' },
  /** An operator confirms that the backend does not have the job, and it acknowledged a stop for the id. */
  verify_not_created: { from: ['resolving'], to: 'refunded' },
  /** A stop by the caller, an operator, or the end of the longest allowed run. */
  stop: { from: ['running'], to: 'stopping' },
  /**
   * The backend reports how the job ended. A task fails only by this move or by `vanish`, never by a caller or an
   * operator.
   */
  end_stopped: { from: ['running', 'stopping'], to: 'stopped' },
  end_succeeded: { from: ['running', 'stopping'], to: 'succeeded' },
  end_failed: { from: ['running', 'stopping'], to: 'failed' },
  /** The backend had the job and no longer has it. */
  vanish: { from: ['running', 'stopping'], to: 'failed' },
} as const satisfies Record<string, { from: readonly Status[]; to: Status }>;

/** Name of a move. */
export type Move = keyof typeof moves;
/** The state that a move leads to. */
export type StatusAfter<M extends Move> = (typeof moves)[M]['to'];

export const allMoves = Object.keys(moves) as readonly Move[];

/** The state after a move, or undefined when the move is not possible from this state. */
export function after<M extends Move>(move: M, from: Status): StatusAfter<M> | undefined {
  const possibleFrom: readonly Status[] = moves[move].from;
  return possibleFrom.includes(from) ? moves[move].to : undefined;
}

/** A move with its data. `db/move-task.ts` maps it to columns. */
export type Change =
  /** The scene and its thresholds are frozen from here on. */
  | { move: 'admit'; scene: Pick<Task, 'sceneCode' | 'lowerBound' | 'defaultMinScore' | 'snapshots'> }
  /** Recovery completes the rollback if it is not done after this time. */
  | { move: 'give_up' | 'take_over' | 'take_back'; recoverAfterMs: number }
  /** The job is queried after this time, unless the submission was answered before. */
  | { move: 'submit'; askAfterMs: number }
  | { move: 'accept'; job: Pick<Job, 'status' | 'frames_published'> }
  | { move: 'find' | 'end_stopped' | 'end_succeeded' }
  | { move: 'refuse' | 'lose_track' | 'end_failed' | 'vanish'; reason: string }
  /** The operator and the finding. */
  | { move: 'verify_created' | 'verify_not_created'; who: string; note: string }
  | { move: 'stop'; by: StoppedBy };

/** Origin of a stop; for an operator with the name. */
export type StoppedBy = 'caller' | 'service' | { operator: string };
