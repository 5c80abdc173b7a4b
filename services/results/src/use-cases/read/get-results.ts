import { nothingRead } from '../../domain/cursor.ts';
import { checkTimes } from '../../domain/result-query.ts';
import type { ResultQuery } from '../../domain/result-query.ts';
import { pageBytes } from '../../domain/page-text.ts';
import type { Deps } from '../deps.ts';
import { findTask } from './find-task.ts';
import { narrowToTrack, readShown } from './read-shown.ts';

export interface PageRequest {
  subject: string;
  taskId: string;
  query: ResultQuery;
  /** Aborted when the caller no longer waits. */
  signal?: AbortSignal | undefined;
}

/** One page of frames as JSON. */
export async function getResults(
  deps: Pick<Deps, 'cursors' | 'db' | 'settings' | 'signals' | 'store' | 'taskOwners' | 'wakeFold'>,
  { subject, taskId, query, signal }: PageRequest,
): Promise<Buffer> {
  const task = await findTask(deps, subject, taskId);
  checkTimes(query, task.kind);
  const from = query.cursor === undefined ? nothingRead : deps.cursors.decode(taskId, query.cursor);
  const { selection } = await narrowToTrack(deps, taskId, { selection: query, position: task.position });
  const page = await readShown(deps, taskId, { task, from, limit: query.limit, selection, signal });
  const { frames, progress, hasMore } = page;
  const isComplete = !hasMore && (task.is_complete || task.is_long_over);
  const cursor = deps.cursors.encode(taskId, progress);
  return pageBytes({
    taskId,
    frames,
    withTotal: query.minScore !== undefined,
    nextCursor: hasMore ? cursor : '',
    resumeCursor: isComplete ? '' : cursor,
  });
}
