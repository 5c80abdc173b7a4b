import type { SnapshotMode } from '@vision/contracts/create-query';
import type { JobStatus } from '@vision/contracts/inference';
import type { TaskStatus } from '@vision/contracts/task-events';

/**
 * States of a row. The first three are internal: no answer and no event contains such a task.
 * - `draft`: the request is being checked or received.
 * - `admitted`: it counts towards the active tasks; units may be reserved.
 * - `undoing`: rolled back before the submission; its unit and its object are being released.
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
/** Final states. */
export const endedStatuses: readonly Status[] = ['stopped', 'succeeded', 'failed', 'refunded'];

/** Whether the state is final. */
export const isEnded = (status: Status): boolean => endedStatuses.includes(status);
/** Whether it is unknown whether the backend has the job. */
export const isUnconfirmed = (status: Status): boolean => unconfirmedStatuses.includes(status);
/** Whether the backend is known to have the job. */
export const isConfirmed = (status: Status): boolean => confirmedStatuses.includes(status);

/** Where the video of a task comes from. */
export const videoKinds = ['stream', 'upload'] as const;
export type VideoKind = (typeof videoKinds)[number];

/** A video task in the domain. Instants are dates; it contains no secret: the stream address is not stored. */
export interface Task {
  taskId: string;
  subject: string;
  kind: VideoKind;
  /** The Idempotency-Key as the client sent it. */
  requestId: string;
  sceneCode: string;
  status: Status;
  /** Incremented with every change that callers or events can see. */
  version: number;
  /** Fencing token: incremented when another process takes the task over before its submission. */
  attempt: number;
  /** Thresholds frozen at creation. */
  lowerBound: number;
  defaultMinScore: number;
  reservationId: string;
  /** The caller's own name for the task, such as a camera or an order. */
  clientRef: string | null;
  /** Whether images of the video are created, frozen at creation. */
  snapshots: SnapshotMode;
  /** Live streams: time without a frame after which the task fails, in seconds; null: the default of the backend. */
  giveUpAfterS: number | null;
  /** `rtsp://host`, for logs and the operator. */
  sourceLabel: string | null;
  /** Key of the uploaded video in the object store. */
  objectKey: string | null;
  /** Units may have been reserved from here on. */
  admittedAt: Date | null;
  /** The caller asked for a stop. */
  stopRequestedAt: Date | null;
  /** Time of the last stop request to the backend, and their number. */
  stopSentAt: Date | null;
  stopsSent: number;
  job: JobFacts;
  /** Why the task failed or was refused; for the operator. */
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
  /** When the service with its results confirmed that all data is removed. */
  confirmedAt: Date | null;
}

/** A task in the history or in a query. */
export type VisibleTask = PublicTask | ImageTask;

/** What the backend and results reported about the job. */
export interface JobFacts {
  status: JobStatus | null;
  seenAt: Date | null;
  missingSince: Date | null;
  endedAt: Date | null;
  framesPublished: number | null;
  /** The last reported attempt; null when the backend reports no attempts. */
  attempt: number | null;
  /** When every frame of the attempt below became readable. */
  resultsCompletedAt: Date | null;
  resultsAttempt: number | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** When a live task is stopped, so that its first results do not expire while it runs. */
export function longestRunEnds(task: Pick<Task, 'resultExpiresAt'>): Date {
  return new Date(task.resultExpiresAt.getTime() - DAY_MS);
}

/**
 * Number of frames that the end-of-stream marker must report once the task has ended: a lost job sends no marker, so no
 * code may wait for one.
 */
export function framesToExpect({ endedAt, job }: Task): number | undefined {
  if (endedAt === null) return undefined;
  return job.endedAt === null ? 0 : (job.framesPublished ?? 0);
}
