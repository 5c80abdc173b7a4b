import { withoutOwner } from '@vision/contracts/object-keys';

/** Key prefix of every segment in the object store. */
export const SEGMENT_PREFIX = 'segments/';

/** Key prefix of all segments of a day below this prefix. */
export const segmentsOfDay = (prefix: string, day: string): string => `${prefix}${day}/`;

/** Key of a new segment; `name` makes it unique for each attempt to store it. */
export const segmentKey = (
  ownPrefix: string,
  { day, taskId, firstSeq, name }: { day: string; taskId: string; firstSeq: number; name: string },
): string => `${segmentsOfDay(ownPrefix, day)}${taskId}/${String(firstSeq).padStart(10, '0')}-${name}`;

/** Day and task of a key; empty for any other key. */
export function placeOfKey(objectKey: string): { day: string; taskId: string; objectKey: string }[] {
  const rest = withoutOwner(SEGMENT_PREFIX, objectKey) ?? '';
  const [, day, taskId] = /^([\d-]{10})\/([\da-f-]{36})\//.exec(rest) ?? [];
  return day === undefined || taskId === undefined ? [] : [{ day, taskId, objectKey }];
}

/** Location of the objects of a segment; `objectKey` is null while they are in the database. */
export interface SegmentPlace {
  day: string;
  objectKey: string | null;
}
