import { withoutOwner } from '@vision/contracts/object-keys';

/** Below this prefix of the object store lies every picture. */
export const PICTURE_PREFIX = 'pictures/';

/**
 * Object key of a new picture: `<prefix of the database><UTC day of the task id>/<task_id>/<seq>`. The day comes from
 * the time inside the UUIDv7 (RFC 9562, section 5.7). A picture that is stored lies where its row says.
 */
export function pictureKey(ownPrefix: string, taskId: string, seq: number): string {
  return `${ownPrefix}${dayOf(new Date(timeOf(taskId)))}/${taskId}/${seq}`;
}

/** Object keys of all pictures that a call without rows may have, those that an earlier release stored included. */
export function pictureKeys(ownPrefix: string, { taskId, imagesTotal }: PicturesOfCall): string[] {
  return [ownPrefix, PICTURE_PREFIX].flatMap((prefix) =>
    Array.from({ length: imagesTotal }, (_, seq) => pictureKey(prefix, taskId, seq)),
  );
}

interface PicturesOfCall {
  taskId: string;
  imagesTotal: number;
}

/** Behind the prefix, what keys begin with whose task ids were made on this UTC day. */
export const dayOf = (day: Date): string => day.toISOString().slice(0, 10);

/** Task id and position that an object key names; undefined for a key of another form. */
export function parsePictureKey(key: string): { taskId: string; seq: number } | undefined {
  const rest = withoutOwner(PICTURE_PREFIX, key) ?? '';
  const match = /^\d{4}-\d{2}-\d{2}\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(\d{1,2})$/.exec(rest);
  return match ? { taskId: match[1] ?? '', seq: Number(match[2]) } : undefined;
}

/** Milliseconds since 1970 at which a UUIDv7 was made. */
function timeOf(taskId: string): number {
  return parseInt(taskId.replaceAll('-', '').slice(0, 12), 16);
}
