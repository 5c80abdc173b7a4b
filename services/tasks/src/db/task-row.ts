import type { Knex } from 'knex';
import type { Status, Task, TaskKind } from '../domain/task.ts';

/** A row of `tasks` as the driver gives it. */
export interface TaskRow {
  task_id: string;
  subject: string;
  kind: TaskKind;
  request_id: string;
  request_key: string;
  scene_code: string;
  status: Status;
  version: number;
  attempt: number;
  lower_bound: number;
  default_min_score: number;
  reservation_id: string;
  source_label: string | null;
  object_key: string | null;
  reason: string | null;
  admitted_at: Date | null;
  stop_requested_at: Date | null;
  stop_sent_at: Date | null;
  stops_sent: number;
  job_status: string | null;
  job_seen_at: Date | null;
  job_missing_since: Date | null;
  job_ended_at: Date | null;
  job_frames_published: number | null;
  results_completed_at: Date | null;
  lease_until: Date;
  check_at: Date | null;
  traceparent: string | null;
  tracestate: string | null;
  created_at: Date;
  updated_at: Date;
  ended_at: Date | null;
  result_expires_at: Date;
}

export const TASKS = 'tasks';

/** What may differ from the plain database clock: tests look at days that have not come. */
export interface Clock {
  /** An interval of PostgreSQL, `0 seconds` in use. */
  offset: string;
}

/** The instant that dates and expiry go by, in SQL. */
export const nowOf = (db: Knex, clock: Clock): Knex.Raw => db.raw('now() + ?::interval', [clock.offset]);

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
      resultsCompletedAt: row.results_completed_at,
    },
    trace: { traceparent: row.traceparent, tracestate: row.tracestate },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at,
    resultExpiresAt: row.result_expires_at,
  };
}
