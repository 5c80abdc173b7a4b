/** Below this prefix of the object store lies every picture. */
export const PICTURE_PREFIX = 'pictures/';

/**
 * Object key of one picture: `pictures/<UTC day of the task id>/<task_id>/<seq>`. The day comes from the time inside
 * the UUIDv7 (RFC 9562, section 5.7), so the key of a picture follows from its task id alone.
 */
export function pictureKey(taskId: string, seq: number): string {
  return `${dayPrefix(new Date(timeOf(taskId)))}${taskId}/${seq}`;
}

/** Object keys of all pictures of a call. */
export function pictureKeys(taskId: string, imagesTotal: number): string[] {
  return Array.from({ length: imagesTotal }, (_, seq) => pictureKey(taskId, seq));
}

/** Prefix of the pictures whose task ids were made on this UTC day. */
export function dayPrefix(day: Date): string {
  return `${PICTURE_PREFIX}${day.toISOString().slice(0, 10)}/`;
}

/** Task id and position that an object key names; undefined for a key of another form. */
export function parsePictureKey(key: string): { taskId: string; seq: number } | undefined {
  const match = /^pictures\/\d{4}-\d{2}-\d{2}\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(\d{1,2})$/.exec(key);
  return match ? { taskId: match[1] ?? '', seq: Number(match[2]) } : undefined;
}

/** Milliseconds since 1970 at which a UUIDv7 was made. */
function timeOf(taskId: string): number {
  return parseInt(taskId.replaceAll('-', '').slice(0, 12), 16);
}
