import { atMost } from '@vision/shared/async/at-most';
import { afterEnd } from '../../domain/cursor.ts';
import type { Progress } from '../../domain/cursor.ts';
import { frameBytes } from '../../domain/page-text.ts';
import type { ShownFrame } from '../../domain/page-text.ts';
import type { Selection } from '../../domain/result-query.ts';
import type { ReadableTask } from '../../domain/task-view.ts';
import type { Deps } from '../deps.ts';
import type { ShownPage } from './read-selected.ts';
import { narrowToTrack, readShown } from './read-shown.ts';
import type { Narrowed } from './read-shown.ts';
import type { Following } from './watch-tasks.ts';

/** An event for a reader that follows a task. `id` is the cursor after it. */
export type ResultEvent =
  | { kind: 'frame'; id: string; frame: Buffer }
  | { kind: 'heartbeat'; id: string }
  | { kind: 'end'; id: string; status: string };

export interface FollowRequest {
  subject: string;
  taskId: string;
  /** The task when the reader was admitted. */
  task: ReadableTask;
  from: Progress;
  selection: Selection;
  /** Aborted when the reader has left, or the stream has to end. */
  signal: AbortSignal;
}

const PAGE = 100;
const HEARTBEAT_MS = 10_000;

/**
 * The frames of a task from a cursor on, including future ones, until the task has ended and all are sent. Finishes
 * without an end event when the task is deleted or the signal is aborted.
 */
export async function* followResults(
  deps: Pick<Deps, 'cursors' | 'db' | 'searches' | 'signals' | 'store' | 'wakeFold' | 'watch'>,
  { subject, taskId, task: admitted, from, selection, signal }: FollowRequest,
): AsyncGenerator<ResultEvent, void> {
  const idOf = (progress: Progress) => deps.cursors.encode(taskId, progress);
  const withTotal = selection.minScore !== undefined;
  const following = deps.watch.follow(taskId);
  signal.addEventListener('abort', following.wake);
  let sentAt = performance.now();
  const untilHeartbeatMs = () => Math.max(0, HEARTBEAT_MS - (performance.now() - sentAt));
  const isSearch = selection.times !== undefined || selection.skipEmpty;
  try {
    let task = admitted;
    let progress = from;
    let narrowed: Narrowed = { selection, position: -1 };
    // Frames that were already stored: each of their pages is bounded, the number of pages is not.
    let isBehind = true;
    while (!signal.aborted) {
      const asked = { task, from: progress, limit: PAGE, signal };
      const read = async () => {
        // A fold is valid for every page up to its position.
        if (narrowed.position < asked.task.position)
          narrowed = await narrowToTrack(deps, taskId, { selection, position: asked.task.position });
        return readShown(deps, taskId, { ...asked, selection: narrowed.selection });
      };
      const reading: Promise<ShownPage> =
        isSearch && isBehind ? deps.searches.run(read, { owner: subject, signal }) : read();
      // A page may wait long for its slot, and proxies close silent connections.
      while (!(await atMost(untilHeartbeatMs(), reading))) {
        yield { kind: 'heartbeat', id: idOf(progress) };
        sentAt = performance.now();
      }
      const page = await reading;
      isBehind = page.hasMore;
      for (const { frame, place } of inOrderOfPlaces(page.frames, progress, page.progress)) {
        yield { kind: 'frame', id: idOf(place), frame: frameBytes(frame, { taskId, withTotal }) };
        sentAt = performance.now();
      }
      ({ progress } = page);
      const status = page.hasMore ? undefined : statusOfEnded(task);
      if (status !== undefined) {
        yield { kind: 'end', id: idOf(afterEnd(progress)), status };
        return;
      }
      if (!page.hasMore) await following.wait(untilHeartbeatMs());
      if (untilHeartbeatMs() === 0) {
        yield { kind: 'heartbeat', id: idOf(progress) };
        sentAt = performance.now();
      }
      const now = stateOf(following);
      if (now === 'gone') return;
      task = now ?? task;
    }
  } catch (error) {
    // A page that waits for its slot, or for the object store, fails with the reason of the signal.
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', following.wake);
    following.end();
  }
}

function stateOf(following: Following) {
  const task = following.task();
  return task === undefined || task === 'gone' || !task.is_expired ? task : 'gone';
}

/** The final status of a task without further frames; undefined while one may follow. */
function statusOfEnded(task: ReadableTask): string | undefined {
  return task.is_complete || task.is_long_over ? task.status : undefined;
}

/**
 * Frames with the progress after each: late frames in the order of storing, then the others by number. A reader that
 * continues from any of them misses none and repeats none.
 */
function inOrderOfPlaces(frames: ShownFrame[], from: Progress, to: Progress): { frame: ShownFrame; place: Progress }[] {
  const late = frames.filter(({ seq }) => seq <= from.seq).toSorted((a, b) => a.position - b.position);
  const next = frames.filter(({ seq }) => seq > from.seq);
  return [
    ...late.map((frame) => ({ frame, place: { seq: from.seq, position: frame.position } })),
    ...next.map((frame) => ({ frame, place: { seq: frame.seq, position: to.position } })),
  ];
}
