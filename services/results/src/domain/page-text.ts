/** A frame with the objects that are shown of it. */
export interface ShownFrame {
  seq: number;
  frameTimeMs: number;
  width: number;
  height: number;
  /** A JSON array. */
  json: string;
  /** Objects before the filter. */
  total: number;
}

export interface PageInput {
  taskId: string;
  frames: ShownFrame[];
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

function itemText({ taskId, withTotal }: PageInput, frame: ShownFrame): string {
  const image = `{"width":${frame.width},"height":${frame.height}}`;
  const count = withTotal ? `,"objects_total":${frame.total}` : '';
  return `{"frame_id":"${taskId}-${frame.seq}","frame_time_ms":${frame.frameTimeMs},"image":${image},"objects":${frame.json}${count}}`;
}
