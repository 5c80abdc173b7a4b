import { framesAfter, lateFrames, listedLateFrames } from '../db/frames.ts';
import type { StoredFrame } from '../db/frames.ts';
import { nothingRead } from '../domain/cursor.ts';
import type { Progress } from '../domain/cursor.ts';
import { effectiveScore } from '../domain/result-query.ts';
import type { ResultQuery } from '../domain/result-query.ts';
import { pageText } from '../domain/page-text.ts';
import { dayOfTask } from '../domain/task-day.ts';
import type { ReadableTask } from '../domain/task-view.ts';
import type { Deps } from './deps.ts';
import { findTask } from './find-task.ts';

/** One page of frames as JSON text. */
export async function getResults(
  deps: Pick<Deps, 'cursors' | 'db' | 'settings' | 'taskOwners'>,
  { subject, taskId, query }: { subject: string; taskId: string; query: ResultQuery },
): Promise<string> {
  const task = await findTask(deps, subject, taskId);
  const from = query.cursor === undefined ? nothingRead : deps.cursors.decode(taskId, query.cursor);
  const { frames, progress, hasMore } = await readPage(deps, taskId, { task, from, limit: query.limit });
  const isComplete = !hasMore && (task.is_complete || task.is_long_over);
  const cursor = deps.cursors.encode(taskId, progress);
  return pageText({
    taskId,
    frames,
    minScore: effectiveScore(query.minScore, { lowerBound: task.lower_bound, defaultMinScore: task.default_min_score }),
    withTotal: query.minScore !== undefined,
    nextCursor: hasMore ? cursor : '',
    resumeCursor: isComplete ? '' : cursor,
  });
}

interface Page {
  frames: StoredFrame[];
  progress: Progress;
  hasMore: boolean;
}

/**
 * The state of the task was read first; only frames at its `position` or before are looked at, so that the new progress
 * says exactly what was seen. A mark that was there then had all its frames before it.
 */
async function readPage(
  { db }: Pick<Deps, 'db'>,
  taskId: string,
  { task, from, limit }: { task: ReadableTask; from: Progress; limit: number },
): Promise<Page> {
  const day = dayOfTask(taskId);
  if (day === undefined || task.position === 0) return { frames: [], progress: from, hasMore: false };
  const range = { day, taskId, upToPosition: task.position };
  const mayBeLate = from.seq >= 0 && task.late_position > from.position;
  const findLate = task.is_late_listed ? listedLateFrames : lateFrames;
  const late = mayBeLate ? await findLate(db, { ...range, limit: limit + 1 }, from) : [];
  if (late.length > limit) {
    const frames = late.slice(0, limit);
    return {
      frames: bySeq(frames),
      progress: { ...from, position: frames.at(-1)?.position ?? from.position },
      hasMore: true,
    };
  }
  const room = limit - late.length;
  const next = await framesAfter(db, { ...range, limit: room + 1 }, from.seq);
  const frames = next.slice(0, room);
  const progress = { seq: frames.at(-1)?.seq ?? from.seq, position: Math.max(from.position, task.position) };
  return { frames: [...bySeq(late), ...frames], progress, hasMore: next.length > room };
}

const bySeq = (frames: StoredFrame[]) => frames.toSorted((a, b) => a.seq - b.seq);
