import type { Happening, TaskHistory } from '@vision/contracts/history';
import { eventsOf } from '@vision/kafka/outbox-history';
import { findStanding } from '../../db/standing.ts';
import type { Deps } from '../deps.ts';

/** The stored frames and facts of a task; undefined for an unknown id. */
export async function describeFrames({ db }: Pick<Deps, 'db'>, taskId: string): Promise<TaskHistory | undefined> {
  const [standing, events] = await Promise.all([findStanding(db, taskId), eventsOf(db, taskId)]);
  if (!standing) return undefined;
  const { end_in_force_at: endAt, pending_until: pendingUntil, deleted_at: deletedAt, ...facts } = standing;
  const marks: Happening[] = [];
  if (endAt) marks.push({ at: endAt.toISOString(), what: 'the end mark came into force', details: {} });
  if (pendingUntil) {
    marks.push({ at: pendingUntil.toISOString(), what: 'the end mark waits for frames until then', details: {} });
  }
  if (deletedAt) marks.push({ at: deletedAt.toISOString(), what: 'the owner deleted the task', details: {} });
  return { facts, happenings: [...marks, ...events] };
}
