import type { SnapshotMode } from '@vision/contracts/create-query';
import type { JobStatus } from '@vision/contracts/inference';
import type { TaskStatus } from '@vision/contracts/task-events';

/**
 * States of a row. The first three are ours: such a task is in no answer and in no event.
 * - `draft`: the request is being checked or received.
 * - `admitted`: it counts towards the active tasks; units may be reserved.
 * - `undoing`: given up before it could be sent; what it holds is being given back.
 */
type HiddenStatus = 'draft' | 'admitted' | 'undoing';
export type Status = HiddenStatus | TaskStatus;

/** States of rows that callers and other services never see. */
export const hiddenStatuses: readonly Status[] = ['draft', 'admitted', 'undoing'];
/** States in which it is unknown whether the backend has the job. */
export const unconfirmedStatuses: readonly Status[] = ['submitting', 'resolving'];
/** States in which the backend is known to have the job. */
export const confirmedStatuses: readonly Status[] = ['running', 'stopping'];
/** States in which the backend may have the job, or has it. */
export const submittedStatuses: readonly Status[] = [...unconfirmedStatuses, ...confirmedStatuses];
/** States that count towards the limit of active tasks. */
export const activeStatuses: readonly Status[] = ['admitted', ...submittedStatuses];
/** States that nothing leaves any more. */
export const endedStatuses: readonly Status[] = ['stopped', 'succeeded', 'failed', 'refunded'];

/** Whether nothing can change any more. */
export const isEnded = (status: Status): boolean => endedStatuses.includes(status);
/** Whether it is not known yet that the backend has the job. */
export const isUnconfirmed = (status: Status): boolean => unconfirmedStatuses.includes(status);
/** Whether the backend is known to have the job. */
export const isConfirmed = (status: Status): boolean => confirmedStatuses.includes(status);

/** Where the video of a task comes from. */
export const videoKinds = ['stream', 'upload'] as const;
export type VideoKind = (typeof videoKinds)[number];

/** A video task as the domain sees it. Instants are dates; nothing in it is secret: the stream address is not kept. */
export interface Task {
  taskId: string;
  subject: string;
  kind: VideoKind;
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
  /** The caller's own name for a camera or an order. */
  clientRef: string | null;
  /** Whether images of the video are created, frozen at creation. */
  snapshots: SnapshotMode;
  /** Live streams: time without a frame after which it fails, in seconds; null: a time of the backend. */
  giveUpAfterS: number | null;
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
  /** Trace of the creating request, continued by later work on the task. */
  trace: { traceparent: string | null; tracestate: string | null };
  createdAt: Date;
  updatedAt: Date;
  endedAt: Date | null;
  resultExpiresAt: Date;
}

/** A task in one of these states. */
export type TaskIn<S extends Status> = Task & { status: S };
/** A task that callers may see. */
export type PublicTask = TaskIn<TaskStatus>;

/** Whether callers may see the task. */
export const isPublic = (task: Task): task is PublicTask => !hiddenStatuses.includes(task.status);

/** A finished image call, kept for the history; the images service owns it. */
export interface ImageTask {
  taskId: string;
  subject: string;
  kind: 'image';
  requestId: string;
  sceneCode: string;
  status: TaskStatus;
  version: number;
  reservationId: string;
  clientRef: string | null;
  createdAt: Date;
  updatedAt: Date;
  resultExpiresAt: Date;
}

/** A task or image call that its owner deleted. */
export interface DeletedTask {
  taskId: string;
  subject: string;
  kind: VideoKind | 'image';
  deletedAt: Date;
  /** Nothing was left of it then in the service that had its results. */
  confirmedAt: Date | null;
}

/** What the history and a query show. */
export type VisibleTask = PublicTask | ImageTask;

/** What the backend and results said about the job. */
export interface JobFacts {
  status: JobStatus | null;
  seenAt: Date | null;
  missingSince: Date | null;
  endedAt: Date | null;
  framesPublished: number | null;
  /** The attempt that the backend named last; null when it names none. */
  attempt: number | null;
  /** Every frame of the attempt below can be read. */
  resultsCompletedAt: Date | null;
  resultsAttempt: number | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Instant from which a live task is stopped, so that its first results do not expire under it. */
export function longestRunEnds(task: Pick<Task, 'resultExpiresAt'>): Date {
  return new Date(task.resultExpiresAt.getTime() - DAY_MS);
}

/**
 * Frames that an end mark has to speak of, once the task has ended: a job that its backend lost sends no mark, so
 * no code may wait for one.
 */
export function framesToExpect({ endedAt, job }: Task): number | undefined {
  if (endedAt === null) return undefined;
  return job.endedAt === null ? 0 : (job.framesPublished ?? 0);
}
