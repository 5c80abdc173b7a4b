/** A frame with its shown objects. */
export interface ShownFrame {
  seq: number;
  /** Its position in the order of storing. */
  position: number;
  frameTimeMs: number;
  width: number;
  height: number;
  /** A JSON array, as text or as its bytes. */
  json: string | Uint8Array;
  /** Objects before the filter. */
  total: number;
}

export interface PageInput {
  taskId: string;
  frames: ShownFrame[];
  /** Whether the caller asked for a score, and so receives the number of objects before the filter. */
  withTotal: boolean;
  nextCursor: string;
  resumeCursor: string;
}

/**
 * The response to a results request. It is composed of the stored bytes, in one buffer: parsing and serialising ten
 * thousand objects takes ten times as long.
 */
export function pageBytes(page: PageInput): Buffer {
  const parts: (string | Uint8Array)[] = [];
  let between = '{"items":[';
  for (const frame of page.frames) {
    parts.push(between + beginningOf(page, frame), frame.json);
    between = page.withTotal ? `,"objects_total":${frame.total}},` : '},';
  }
  const last = page.frames.length > 0 ? between.slice(0, -1) : between;
  const cursors = `"next_cursor":${JSON.stringify(page.nextCursor)},"resume_cursor":${JSON.stringify(page.resumeCursor)}`;
  parts.push(`${last}],${cursors}}`);
  return joined(parts);
}

/** One frame in the form of a page. */
export function frameBytes(frame: ShownFrame, { taskId, withTotal }: Pick<PageInput, 'taskId' | 'withTotal'>): Buffer {
  const end = withTotal ? `,"objects_total":${frame.total}}` : '}';
  return joined([beginningOf({ taskId }, frame), frame.json, end]);
}

function beginningOf({ taskId }: Pick<PageInput, 'taskId'>, { seq, frameTimeMs, width, height }: ShownFrame): string {
  const image = `{"width":${width},"height":${height}}`;
  return `{"frame_id":"${taskId}-${seq}","frame_time_ms":${frameTimeMs},"image":${image},"objects":`;
}

function joined(parts: (string | Uint8Array)[]): Buffer {
  let length = 0;
  for (const part of parts) length += typeof part === 'string' ? Buffer.byteLength(part) : part.length;
  const all = Buffer.allocUnsafe(length);
  let at = 0;
  for (const part of parts) {
    if (typeof part === 'string') at += all.write(part, at);
    else {
      all.set(part, at);
      at += part.length;
    }
  }
  return all;
}
