import { withoutOwner } from '@vision/contracts/object-keys';

/** Below this prefix of the object store lies every segment. */
export const SEGMENT_PREFIX = 'segments/';

/** What the keys of all segments of a day begin with that lie below this prefix. */
export const segmentsOfDay = (prefix: string, day: string): string => `${prefix}${day}/`;

/** Key of a new segment; `name` makes it another one than that of any other attempt to store it. */
export const segmentKey = (
  ownPrefix: string,
  { day, taskId, firstSeq, name }: { day: string; taskId: string; firstSeq: number; name: string },
): string => `${segmentsOfDay(ownPrefix, day)}${taskId}/${String(firstSeq).padStart(10, '0')}-${name}`;

/** Day and task of a key; empty for a key of something else. */
export function placeOfKey(objectKey: string): { day: string; taskId: string; objectKey: string }[] {
  const rest = withoutOwner(SEGMENT_PREFIX, objectKey) ?? '';
  const [, day, taskId] = /^([\d-]{10})\/([\da-f-]{36})\//.exec(rest) ?? [];
  return day === undefined || taskId === undefined ? [] : [{ day, taskId, objectKey }];
}

/** Where the objects of a segment are; `objectKey` is null while that is the database. */
export interface SegmentPlace {
  day: string;
  objectKey: string | null;
}
