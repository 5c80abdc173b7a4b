const PREFIX = 'segments/';

/** What the keys of all segments of a day begin with. */
export const segmentsOfDay = (day: string): string => `${PREFIX}${day}/`;

/** Key of a segment; `name` makes it another one than that of any other attempt to store it. */
export const segmentKey = (
  { day, taskId, firstSeq }: { day: string; taskId: string; firstSeq: number },
  name: string,
): string => `${segmentsOfDay(day)}${taskId}/${String(firstSeq).padStart(10, '0')}-${name}`;

/** Day and task of a key; empty for a key of something else. */
export function placeOfKey(objectKey: string): { day: string; taskId: string; objectKey: string }[] {
  const [, day, taskId] = /^segments\/([\d-]{10})\/([\da-f-]{36})\//.exec(objectKey) ?? [];
  return day === undefined || taskId === undefined ? [] : [{ day, taskId, objectKey }];
}

/** Where the objects of a segment are; `objectKey` is null while that is the database. */
export interface SegmentPlace {
  day: string;
  objectKey: string | null;
}
