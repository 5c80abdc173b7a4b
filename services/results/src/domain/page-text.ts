import { selectObjects } from './stored-objects.ts';

export interface PageInput {
  taskId: string;
  frames: { seq: number; frame_time_ms: number; width: number; height: number; objects: string }[];
  minScore: number;
  /** Whether the caller asked for a score, and so gets the number of objects before the filter. */
  withTotal: boolean;
  nextCursor: string;
  resumeCursor: string;
}

/**
 * The answer of a results request. It is put together from stored text: parsing and writing ten thousand objects takes
 * ten times as long.
 */
export function pageText(page: PageInput): string {
  const items = page.frames.map((frame) => itemText(page, frame)).join(',');
  const cursors = `"next_cursor":${JSON.stringify(page.nextCursor)},"resume_cursor":${JSON.stringify(page.resumeCursor)}`;
  return `{"items":[${items}],${cursors}}`;
}

function itemText({ taskId, minScore, withTotal }: PageInput, frame: PageInput['frames'][number]): string {
  const { json, total } = selectObjects(frame.objects, minScore);
  const image = `{"width":${frame.width},"height":${frame.height}}`;
  const count = withTotal ? `,"objects_total":${total}` : '';
  return `{"frame_id":"${taskId}-${frame.seq}","frame_time_ms":${frame.frame_time_ms},"image":${image},"objects":${json}${count}}`;
}
