import type { TaskStatus } from '@vision/shared/contracts/task-events';

/**
 * States of a row. The first three are ours: such a task is in no answer and in no event.
 * - `draft`: the request is being checked or received.
 * - `admitted`: it counts towards the active tasks; units may be reserved.
 * - `undoing`: given up before it could be sent; what it holds is being given back.
 */
type HiddenStatus = 'draft' | 'admitted' | 'undoing';
export type Status = HiddenStatus | TaskStatus;

/** What makes a task move. */
export type Move =
  | 'admit'
  | 'give_up'
  | 'submit'
  | 'take_back'
  | 'accept'
  | 'refuse'
  | 'lose_track'
  | 'find'
  | 'verify_created'
  | 'verify_not_created'
  | 'stop'
  | 'end_stopped'
  | 'end_succeeded'
  | 'end_failed'
  | 'vanish';

/**
 * Every move there is. A row in `undoing` is removed once what it holds was given back.
 * A stop that was asked for before the backend was known to have the task is applied when it is found.
 */
const moves: Record<Move, { from: readonly Status[]; to: Status }> = {
  /** Fits into the subject's active tasks. */
  admit: { from: ['draft'], to: 'admitted' },
  /** Refused, or its process died, before anything was sent. */
  give_up: { from: ['draft', 'admitted'], to: 'undoing' },
  /** Units are reserved; committed before the backend is called. */
  submit: { from: ['admitted'], to: 'submitting' },
  /** The backend surely did not get it: to callers there never was a task. */
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
  /** An operator says that it has not, and the backend acknowledged a stop for the id. */
  verify_not_created: { from: ['resolving'], to: 'refunded' },
  /** The caller, or the end of the longest allowed run. */
  stop: { from: ['running'], to: 'stopping' },
  end_stopped: { from: ['running', 'stopping'], to: 'stopped' },
  end_succeeded: { from: ['running', 'stopping'], to: 'succeeded' },
  end_failed: { from: ['running', 'stopping'], to: 'failed' },
  /** The backend had it and has it no more. */
  vanish: { from: ['running', 'stopping'], to: 'failed' },
};

/** The state after a move, or undefined when the move is not possible from this state. */
export function after(move: Move, from: Status): Status | undefined {
  return moves[move].from.includes(from) ? moves[move].to : undefined;
}

const hidden: readonly Status[] = ['draft', 'admitted', 'undoing'];
const ended: readonly Status[] = ['stopped', 'succeeded', 'failed', 'refunded'];

/** Whether callers may see a task in this state. */
export const isPublic = (status: Status): status is TaskStatus => !hidden.includes(status);
/** Whether nothing can change any more. */
export const isEnded = (status: Status): boolean => ended.includes(status);
/** States that count towards the limit of active tasks. */
export const activeStatuses: readonly Status[] = ['admitted', 'submitting', 'resolving', 'running', 'stopping'];

export type TaskKind = 'stream' | 'upload' | 'image';

/** A task as the domain sees it. Instants are dates; nothing in it is secret: the stream address is not kept. */
export interface Task {
  taskId: string;
  subject: string;
  kind: TaskKind;
  /** The Idempotency-Key as the client sent it. */
  requestId: string;
  sceneCode: string;
  status: Status;
  /** Grows by one with every change that callers or events can see. */
  version: number;
  /** Fencing token: grows when another process takes the task over before it was handed to the backend. */
  attempt: number;
  /** Thresholds frozen at creation. */
  lowerBound: number;
  defaultMinScore: number;
  reservationId: string;
  /** `rtsp://host`, for logs and the operator. */
  sourceLabel: string | null;
  /** Key of the uploaded video in the object store. */
  objectKey: string | null;
  /** Units may have been reserved from here on. */
  admittedAt: Date | null;
  /** The caller asked for a stop. */
  stopRequestedAt: Date | null;
  /** The backend was last asked to stop, and how often. */
  stopSentAt: Date | null;
  stopsSent: number;
  job: JobFacts;
  /** Why it failed or was refused; for the operator. */
  reason: string | null;
  /** Trace of the creating request, continued by whatever the service does for the task later. */
  trace: { traceparent: string | null; tracestate: string | null };
  createdAt: Date;
  updatedAt: Date;
  endedAt: Date | null;
  resultExpiresAt: Date;
}

/** What the backend and results said about the job. */
export interface JobFacts {
  status: string | null;
  seenAt: Date | null;
  missingSince: Date | null;
  endedAt: Date | null;
  framesPublished: number | null;
  /** Every frame can be read. */
  resultsCompletedAt: Date | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Id under which the quota service knows the unit of a task. */
export const reservationIdOf = (taskId: string, attempt: number): string => `${taskId}/${attempt}`;

/** Instant from which a live task is stopped, so that its first results do not expire under it. */
export function longestRunEnds(task: Pick<Task, 'resultExpiresAt'>): Date {
  return new Date(task.resultExpiresAt.getTime() - DAY_MS);
}
