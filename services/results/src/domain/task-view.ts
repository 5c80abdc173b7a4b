import type { SnapshotMode } from '@vision/contracts/create-query';
import type { TaskStatus } from '@vision/contracts/task-events';

/** Stored view of a task. */
export interface TaskView {
  task_id: string;
  version: number;
  subject: string;
  status: TaskStatus;
  lower_bound: number;
  default_min_score: number;
  ended_at?: string | undefined;
  /** Number of frames that the backend reports as published, once the task has ended. */
  frames_published?: number | undefined;
  result_expires_at: string;
  kind?: 'stream' | 'upload' | undefined;
  /** Why it failed or was refunded. */
  reason?: string | undefined;
  /** Absent when the view comes from no event. */
  scene_code?: string | undefined;
  client_ref?: string | undefined;
  snapshots?: SnapshotMode | undefined;
}

/** A task that a reader requests, with the storing state of its frames. */
export interface ReadableTask {
  lower_bound: number;
  default_min_score: number;
  is_expired: boolean;
  /** The task ended so long ago that a missing end-of-stream marker is no longer awaited. */
  is_long_over: boolean;
  position: number;
  late_position: number;
  /** All frames that were stored late are listed; some of an earlier release are not. */
  is_late_listed: boolean;
  status: TaskStatus;
  /** Null when an earlier release stored the task. */
  kind: 'stream' | 'upload' | null;
  /** The task has ended and its end-of-stream marker has been applied: no frame follows. */
  is_complete: boolean;
  /** It ended less than a minute ago. */
  is_just_over: boolean;
  /** Null for a task that an earlier release stored. */
  snapshots: SnapshotMode | null;
  result_expires_at: Date;
}

/** Facts of a task that the evaluation of alarm rules needs. */
export interface EvaluatedView {
  subject: string;
  /** Null when an earlier release stored the task. */
  kind: 'stream' | 'upload' | null;
  status: TaskStatus;
  defaultMinScore: number;
  sceneCode: string | null;
  clientRef: string | null;
  /** Null when an earlier release stored the task. */
  snapshots: SnapshotMode | null;
  /** Unix milliseconds of its end, and the time since; null while it runs. */
  endedMs: number | null;
  endedForMs: number | null;
  /** Its end-of-stream marker has been applied, or no frame of it ever arrived. */
  hasAllFrames: boolean;
}

/** Storing state of the frames of a task. */
export type FrameState = Pick<ReadableTask, 'position' | 'late_position' | 'is_late_listed'>;

/** The same, for one of many. */
export interface WatchedTask extends ReadableTask {
  task_id: string;
}
