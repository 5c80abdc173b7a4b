import type { VisionClient } from '@vision/client';
import type { Frame } from '../lib/boxes.ts';
import { dataOf } from '../state/data.ts';

/** A time range may come in many pages, short ones included; more than these are no range of this page. */
const MOST_PAGES = 40;

interface Wanted {
  taskId: string;
  fromMs: number;
  toMs: number;
  minScore: number;
}

/** The frames of a time, the end exclusive, in order. */
export async function loadFrames(client: VisionClient, { taskId, fromMs, toMs, minScore }: Wanted): Promise<Frame[]> {
  const frames: Frame[] = [];
  let cursor = '';
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = {
      from_ms: fromMs,
      to_ms: toMs,
      min_score: minScore,
      limit: 200,
      ...(cursor === '' ? {} : { cursor }),
    };
    const params = { path: { task_id: taskId }, query };
    const { items, next_cursor: next } = dataOf(await client.api.GET('/v1/vision/tasks/{task_id}/results', { params }));
    frames.push(...items);
    if (next === '') break;
    cursor = next;
  }
  return frames.toSorted((a, b) => a.frame_time_ms - b.frame_time_ms);
}
