import { withoutOwner } from '@vision/contracts/object-keys';

/** Prefix of all images in the object store. */
export const PICTURE_PREFIX = 'pictures/';

/**
 * Object key of a new image: `<prefix of the database><UTC day of the task id>/<task_id>/<seq>`. The day comes from the
 * timestamp in the UUIDv7 (RFC 9562, section 5.7). For a stored image, the key in its row counts.
 */
export function pictureKey(ownPrefix: string, taskId: string, seq: number): string {
  return `${ownPrefix}${dayOf(new Date(timeOf(taskId)))}/${taskId}/${seq}`;
}

/** All object keys that images of a call without rows may have, including the keys of an earlier release. */
export function pictureKeys(ownPrefix: string, { taskId, imagesTotal }: PicturesOfCall): string[] {
  return [ownPrefix, PICTURE_PREFIX].flatMap((prefix) =>
    Array.from({ length: imagesTotal }, (_, seq) => pictureKey(prefix, taskId, seq)),
  );
}

interface PicturesOfCall {
  taskId: string;
  imagesTotal: number;
}

/** Start of the keys, after the prefix, for task ids created on this UTC day. */
export const dayOf = (day: Date): string => day.toISOString().slice(0, 10);

/** Task id and position in an object key; undefined for a key of another form. */
export function parsePictureKey(key: string): { taskId: string; seq: number } | undefined {
  const rest = withoutOwner(PICTURE_PREFIX, key) ?? '';
  const match = /^\d{4}-\d{2}-\d{2}\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(\d{1,2})$/.exec(rest);
  return match ? { taskId: match[1] ?? '', seq: Number(match[2]) } : undefined;
}

/** Creation time of a UUIDv7 in milliseconds since 1970. */
function timeOf(taskId: string): number {
  return parseInt(taskId.replaceAll('-', '').slice(0, 12), 16);
}
