import { findSourceRecord, listStates } from '../db/sources.ts';
import { describeSource } from '../domain/describe-source.ts';
import type { ShownSource } from '../domain/describe-source.ts';
import { endedReason } from '../domain/ended-reason.ts';
import type { EndedReason } from '../domain/ended-reason.ts';
import type { ReadableTask } from '../domain/task-view.ts';
import { createdAtMsOf } from '../domain/task-day.ts';
import type { Deps } from './deps.ts';
import { findTask, learnKind, taskNotFound } from './find-task.ts';
import { readPage } from './read-page.ts';

type SourceDeps = Pick<Deps, 'db' | 'settings' | 'sourceCursors' | 'taskOwners'>;

export interface SourceRequest {
  subject: string;
  taskId: string;
  cursor: string | undefined;
  limit: number;
}

/** A source with a page of its states, newest first. */
export interface SourcePage extends ShownSource {
  kind: 'stream' | 'upload';
  last_frame_time_ms?: number | undefined;
  items: { at_ms: number; state: string; reason?: EndedReason | undefined }[];
  next_cursor: string;
}

/** What the source of a task does now and did, and why the task failed. */
export async function getSource(deps: SourceDeps, request: SourceRequest): Promise<SourcePage> {
  const { db, sourceCursors } = deps;
  const { subject, taskId, limit } = request;
  const task = await findTask(deps, subject, taskId);
  const after = request.cursor === undefined ? undefined : sourceCursors.decode(taskId, request.cursor);
  const record = await findSourceRecord(db, taskId);
  if (!record) throw taskNotFound();
  const kind = record.kind ?? (await learnKind(deps, subject, taskId));
  const states = await listStates(db, taskId, { after: after && [after.seq, after.position], limit: limit + 1 });
  const items = states.slice(0, limit);
  const last = items.at(-1);
  const hasMore = states.length > limit && last !== undefined;
  return {
    kind,
    ...describeSource(record, createdAtMsOf(taskId)),
    last_frame_time_ms: await lastFrameTime(deps, taskId, { task, maxSeq: record.maxSeq }),
    items: items.map(({ at_ms: atMs, state, reason }) => ({
      at_ms: atMs,
      state,
      ...(reason === null ? {} : { reason: endedReason(reason) }),
    })),
    next_cursor: hasMore ? sourceCursors.encode(taskId, { seq: last.attempt, position: last.n }) : '',
  };
}

/** Read as a caller reads frames, so that it names no frame which a caller cannot have. */
async function lastFrameTime(
  deps: Pick<Deps, 'db'>,
  taskId: string,
  { task, maxSeq }: { task: ReadableTask; maxSeq: number },
): Promise<number | undefined> {
  if (maxSeq < 0) return undefined;
  const from = { seq: maxSeq - 1, position: task.position };
  const { frames } = await readPage(deps, taskId, { task, from, limit: 1 });
  return frames.at(-1)?.frameTimeMs;
}
