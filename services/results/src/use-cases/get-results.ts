import { nothingRead } from '../domain/cursor.ts';
import { effectiveScore } from '../domain/result-query.ts';
import type { ResultQuery } from '../domain/result-query.ts';
import { pageBytes } from '../domain/page-text.ts';
import type { Deps } from './deps.ts';
import { findTask } from './find-task.ts';
import { readPage } from './read-page.ts';
import { showFrames } from './show-frames.ts';

export interface PageRequest {
  subject: string;
  taskId: string;
  query: ResultQuery;
  /** Aborted when the caller no longer waits. */
  signal?: AbortSignal | undefined;
}

/** One page of frames as JSON. */
export async function getResults(
  deps: Pick<Deps, 'cursors' | 'db' | 'settings' | 'signals' | 'store' | 'taskOwners'>,
  { subject, taskId, query, signal }: PageRequest,
): Promise<Buffer> {
  const task = await findTask(deps, subject, taskId);
  const from = query.cursor === undefined ? nothingRead : deps.cursors.decode(taskId, query.cursor);
  const { frames, progress, hasMore } = await readPage(deps, taskId, { task, from, limit: query.limit });
  const isComplete = !hasMore && (task.is_complete || task.is_long_over);
  const cursor = deps.cursors.encode(taskId, progress);
  const frozen = { lowerBound: task.lower_bound, defaultMinScore: task.default_min_score };
  return pageBytes({
    taskId,
    frames: await showFrames(deps, frames, { minScore: effectiveScore(query.minScore, frozen), signal }),
    withTotal: query.minScore !== undefined,
    nextCursor: hasMore ? cursor : '',
    resumeCursor: isComplete ? '' : cursor,
  });
}
