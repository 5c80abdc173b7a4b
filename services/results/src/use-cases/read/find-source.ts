import { createdAtMsOf } from '@vision/contracts/ids';
import { findSourceRecord, listStates } from '../../db/sources.ts';
import { ENDED, UNCONFIRMED } from '../../domain/describe-source.ts';
import type { SourceRecord } from '../../domain/describe-source.ts';
import type { Span } from '../../domain/fold/coverage.ts';
import type { SourceState } from '../../domain/gap-reasons.ts';
import { lifeOf } from '../../domain/task-life.ts';
import type { ReadableTask } from '../../domain/task-view.ts';
import type { Deps } from '../deps.ts';
import { findTask, learnKind, taskNotFound } from './find-task.ts';
import type { FoldView } from './read-fold.ts';

/** A task and the stored facts of its source. */
export interface FoundSource {
  task: ReadableTask;
  record: SourceRecord;
  kind: 'stream' | 'upload';
}

/** The video task of this subject with its source. @throws AppError as `findTask` */
export async function findSource(
  deps: Pick<Deps, 'db' | 'settings' | 'taskOwners'>,
  subject: string,
  taskId: string,
): Promise<FoundSource> {
  const task = await findTask(deps, subject, taskId);
  const record = await findSourceRecord(deps.db, taskId);
  if (!record) throw taskNotFound();
  return { task, record, kind: record.kind ?? (await learnKind(deps, subject, taskId)) };
}

/** All listed states of a stream, at most 1,100. */
export async function listSourceStates(
  { db }: Pick<Deps, 'db'>,
  taskId: string,
  kind: 'stream' | 'upload',
): Promise<SourceState[]> {
  return kind === 'upload' ? [] : listStates(db, taskId, { after: undefined, limit: 2_000 });
}

/** The task was not confirmed by the backend, or never ran. */
export const isUnstarted = ({ status }: SourceRecord): boolean => UNCONFIRMED.has(status) || status === 'refunded';

/** The period in which a task can have frames, as far as a view counts them. */
export function lifeOfView(
  { newestMs, oldestMs, pace, isWhole }: FoldView,
  { taskId, record, kind }: { taskId: string; record: SourceRecord; kind: 'stream' | 'upload' },
): Span {
  const createdAtMs = createdAtMsOf(taskId);
  const untilMs = ENDED.has(record.status) ? (record.endedAtMs ?? newestMs ?? createdAtMs) : record.nowMs;
  return lifeOf({ kind, createdAtMs, untilMs, oldestMs, newestMs, pace, isWhole });
}
