import type { Happening, TaskHistory } from '@vision/contracts/history';
import { asAppError } from '@vision/contracts/errors';
import { eventsOf } from '@vision/kafka/outbox-history';
import { findDeleted } from '../../db/deleted-tasks.ts';
import { findMoves } from '../../db/task-moves.ts';
import { findAnyTask, findVideoTask } from '../../db/tasks.ts';
import type { DeletedTask, ImageTask, Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

/**
 * All data about a task, drafts included: its row, its moves, its events, and the current state of its job at the
 * backend; undefined for an unknown id.
 */
export async function describeTask(
  { db, inference }: Pick<Deps, 'db' | 'inference'>,
  taskId: string,
): Promise<TaskHistory | undefined> {
  const task = (await findVideoTask(db, taskId)) ?? (await findAnyTask(db, taskId));
  const deleted = await findDeleted(db, { taskId });
  if (!task)
    return deleted && { facts: { subject: deleted.subject, kind: deleted.kind }, happenings: deletion(deleted) };
  if (task.kind === 'image') return { facts: sharedFacts(task), happenings: deletion(deleted) };
  const [moves, events, job] = await Promise.all([
    findMoves(db, taskId),
    eventsOf(db, taskId),
    jobAtBackend({ inference }, taskId),
  ]);
  return {
    facts: { ...sharedFacts(task), ...videoFacts(task), job_at_backend: job },
    happenings: [...marksOf(task), ...moves, ...events, ...deletion(deleted)].toSorted((a, b) =>
      a.at.localeCompare(b.at),
    ),
  };
}

async function jobAtBackend({ inference }: Pick<Deps, 'inference'>, taskId: string): Promise<unknown> {
  try {
    const [job] = await inference.readJobs([taskId]);
    return job ?? 'none';
  } catch (error) {
    return `not asked: ${asAppError(error)?.reason ?? 'failed'}`;
  }
}

const sharedFacts = (task: Task | ImageTask) => ({
  subject: task.subject,
  kind: task.kind,
  status: task.status,
  version: task.version,
  scene_code: task.sceneCode,
  request_id: task.requestId,
  reservation_id: task.reservationId,
  result_expires_at: task.resultExpiresAt.toISOString(),
});

const videoFacts = ({ attempt, reason, sourceLabel, objectKey, stopsSent, job }: Task) => ({
  attempt,
  reason: reason ?? undefined,
  source: sourceLabel ?? undefined,
  object_key: objectKey ?? undefined,
  stops_sent: stopsSent,
  job_status: job.status ?? undefined,
  job_frames_published: job.framesPublished ?? undefined,
  job_attempt: job.attempt ?? undefined,
});

function deletion(deleted: DeletedTask | undefined): Happening[] {
  if (!deleted) return [];
  const { deletedAt, confirmedAt } = deleted;
  const stored = { at: deletedAt.toISOString(), what: 'the owner deleted the task', details: {} };
  if (!confirmedAt) return [stored];
  return [stored, { at: confirmedAt.toISOString(), what: 'nothing was left of its results', details: {} }];
}

/** The timestamps of the row. */
function marksOf({ createdAt, stopRequestedAt, stopSentAt, job }: Task): Happening[] {
  const marks: [Date | null, string][] = [
    [createdAt, 'the create arrived'],
    [stopRequestedAt, 'a stop was asked for'],
    [stopSentAt, 'the backend was last asked to stop'],
    [job.seenAt, 'the backend last showed the job'],
    [job.missingSince, 'the backend has not shown the job since'],
    [job.endedAt, 'the backend said that the job ended'],
    [job.resultsCompletedAt, 'results said that every frame can be read'],
  ];
  return marks.flatMap(([at, what]) => (at ? [{ at: at.toISOString(), what, details: {} }] : []));
}
