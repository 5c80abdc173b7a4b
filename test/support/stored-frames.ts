import { decodeHeads } from '@vision/contracts/segments/head';

/** Asks the database of results. */
export type AskResults = <T>(sql: string, parameters?: unknown[]) => Promise<T[]>;

/** A frame as the database of results knows it, whatever form it is stored in. */
export interface StoredFrame {
  seq: number;
  timeMs: number;
}

/** How many frames each task has as rows and in segments; `task_id`, `frames`. For the from clause of a statement. */
export const STORED_COUNTS = `(
  select task_id, sum(frames)::int as frames
    from (select task_id, 1 as frames from frames union all select task_id, frames from segments) as each_form
   group by task_id)`;

/**
 * All stored frames by their tasks; one that is stored twice comes twice. One statement reads both forms: a frame that
 * is moved from one to the other meanwhile is seen in exactly one of them.
 */
export async function storedFrames(ask: AskResults): Promise<Map<string, StoredFrame[]>> {
  const rows = await ask<{ task_id: string; seq: number; time: string; heads: Buffer | null }>(
    `select task_id, seq, frame_time_ms as time, null as heads from frames
      union all select task_id, null, null, heads from segments`,
  );
  const byTask = new Map<string, StoredFrame[]>();
  for (const { task_id: taskId, seq, time, heads } of rows) {
    const own = heads
      ? decodeHeads(heads).map((head) => ({ seq: head.seq, timeMs: head.frameTimeMs }))
      : [{ seq, timeMs: Number(time) }];
    const known = byTask.get(taskId);
    if (known) known.push(...own);
    else byTask.set(taskId, own);
  }
  return byTask;
}

/** How many frames are stored, of one task or of all. */
export async function countStoredFrames(ask: AskResults, taskId?: string): Promise<number> {
  const [row] = await ask<{ frames: number }>(
    `select coalesce(sum(frames), 0)::int as frames from ${STORED_COUNTS} as counts
      where $1::uuid is null or task_id = $1`,
    [taskId ?? null],
  );
  return row?.frames ?? 0;
}
