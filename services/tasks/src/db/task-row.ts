import type { SnapshotMode } from '@vision/contracts/create-query';
import type { JobStatus } from '@vision/contracts/inference';
import { isPublic } from '../domain/task.ts';
import type { ImageTask, Status, Task, VisibleTask } from '../domain/task.ts';

/** A row of `tasks` as the driver returns it. */
export interface TaskRow {
  task_id: string;
  subject: string;
  kind: Task['kind'];
  request_id: string;
  request_key: string;
  scene_code: string;
  status: Status;
  version: number;
  attempt: number;
  lower_bound: number;
  default_min_score: number;
  reservation_id: string;
  client_ref: string | null;
  snapshots: SnapshotMode | null;
  give_up_after_s: number | null;
  source_label: string | null;
  object_key: string | null;
  reason: string | null;
  admitted_at: Date | null;
  stop_requested_at: Date | null;
  stop_sent_at: Date | null;
  stops_sent: number;
  job_status: JobStatus | null;
  job_seen_at: Date | null;
  job_missing_since: Date | null;
  job_ended_at: Date | null;
  job_frames_published: number | null;
  job_attempt: number | null;
  results_completed_at: Date | null;
  results_attempt: number | null;
  lease_until: Date;
  check_at: Date | null;
  traceparent: string | null;
  tracestate: string | null;
  created_at: Date;
  updated_at: Date;
  ended_at: Date | null;
  result_expires_at: Date;
}

/** A row of `tasks` that mirrors a finished image call; its other columns are not used. */
export type ImageTaskRow = Omit<TaskRow, 'kind' | 'status'> & { kind: 'image'; status: ImageTask['status'] };

export const TASKS = 'tasks';

export function toTask(row: TaskRow): Task {
  return {
    taskId: row.task_id,
    subject: row.subject,
    kind: row.kind,
    requestId: row.request_id,
    sceneCode: row.scene_code,
    status: row.status,
    version: row.version,
    attempt: row.attempt,
    lowerBound: row.lower_bound,
    defaultMinScore: row.default_min_score,
    reservationId: row.reservation_id,
    clientRef: row.client_ref,
    snapshots: row.snapshots ?? 'off',
    giveUpAfterS: row.give_up_after_s,
    sourceLabel: row.source_label,
    objectKey: row.object_key,
    reason: row.reason,
    admittedAt: row.admitted_at,
    stopRequestedAt: row.stop_requested_at,
    stopSentAt: row.stop_sent_at,
    stopsSent: row.stops_sent,
    job: {
      status: row.job_status,
      seenAt: row.job_seen_at,
      missingSince: row.job_missing_since,
      endedAt: row.job_ended_at,
      framesPublished: row.job_frames_published,
      attempt: row.job_attempt,
      resultsCompletedAt: row.results_completed_at,
      resultsAttempt: row.results_attempt,
    },
    trace: { traceparent: row.traceparent, tracestate: row.tracestate },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at,
    resultExpiresAt: row.result_expires_at,
  };
}

function toImageTask(row: ImageTaskRow): ImageTask {
  return {
    taskId: row.task_id,
    subject: row.subject,
    kind: 'image',
    requestId: row.request_id,
    sceneCode: row.scene_code,
    status: row.status,
    version: row.version,
    reservationId: row.reservation_id,
    clientRef: row.client_ref,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    resultExpiresAt: row.result_expires_at,
  };
}

/** The public form of a row; undefined for a hidden row. */
export function toVisibleTask(row: TaskRow | ImageTaskRow): VisibleTask | undefined {
  if (row.kind === 'image') return toImageTask(row);
  const task = toTask(row);
  return isPublic(task) ? task : undefined;
}
