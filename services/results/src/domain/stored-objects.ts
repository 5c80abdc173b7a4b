import type { TrackedObject } from '@vision/contracts/detection';
import type { ObjectView } from './fold/tracks.ts';
import { isFiltering, matchesObject } from './object-filter.ts';
import type { ObjectFilter } from './object-filter.ts';

/**
 * The stored objects of a frame: one JSON object per line, in the form of the API, highest score first. A page then
 * needs no parsing and sorting: it takes the first lines, found by parsing a few of them.
 */
export function toStored(objects: readonly TrackedObject[]): string {
  return byScore(objects)
    .map((object) => JSON.stringify(object))
    .join('\n');
}

/** Highest score first, as objects are stored and shown. Those of our own backend arrive in that order. */
export const byScore = (objects: readonly TrackedObject[]): readonly TrackedObject[] =>
  isInOrder(objects) ? objects : objects.toSorted(highestFirst);

const highestFirst = (a: TrackedObject, b: TrackedObject) => b.score - a.score;

function isInOrder(objects: readonly TrackedObject[]): boolean {
  let before = Infinity;
  for (const { score } of objects) {
    if (score > before) return false;
    before = score;
  }
  return true;
}

/**
 * The stored objects at or above a score that match a filter, as a JSON array, and the number of all. JSON has no raw
 * line break inside a value, so each line is one object for any label.
 */
export function selectObjects(
  stored: string,
  minScore: number,
  filter: ObjectFilter = {},
): { json: string; total: number } {
  if (stored === '') return { json: '[]', total: 0 };
  const lines = stored.split('\n');
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (scoreOf(lines[middle] ?? '') >= minScore) low = middle + 1;
    else high = middle;
  }
  const scored = lines.slice(0, low);
  const selected = isFiltering(filter) ? scored.filter((line) => matchesObject(filter, parse(line))) : scored;
  return { json: `[${selected.join(',')}]`, total: lines.length };
}

/**
 * Parses objects for which `toStored` returns exactly this text; undefined when there are none, because an earlier
 * release wrote it in another form.
 */
export function fromStored(stored: string): TrackedObject[] | undefined {
  if (stored === '') return [];
  const objects = stored.split('\n').map(parse);
  return objects.every(isWhole) && isInOrder(objects) && objects.map(inOurForm).join('\n') === stored
    ? objects
    : undefined;
}

/** The scores of stored objects, in their order. */
export const storedScores = (stored: string): number[] => (stored === '' ? [] : stored.split('\n').map(scoreOf));

/** Calls `take` with each stored object; the instance is reused for the next one. */
export function eachStoredObject(stored: string, take: (object: ObjectView) => void): void {
  for (const line of stored === '' ? [] : stored.split('\n')) {
    const { label, score, bbox, track_id: trackId } = parse(line);
    const { cx, cy, width, height } = bbox;
    take({ label, trackId, score: Math.round(score * 1e6), cx, cy, width, height });
  }
}

/** The labels of stored objects, in their order. */
export function storedLabels(stored: string): string[] {
  const lines = stored === '' ? [] : stored.split('\n');
  return lines.map((line) => parse(line).label).filter((label) => typeof label === 'string');
}

function inOurForm({ label, score, bbox, track_id }: TrackedObject): string {
  const { format, cx, cy, width, height } = bbox;
  return JSON.stringify({ label, score, bbox: { format, cx, cy, width, height }, track_id });
}

/** Whether all values are present that a segment stores in columns. */
const isWhole = ({ label, score, bbox, track_id: track }: Partial<TrackedObject>) =>
  typeof label === 'string' &&
  typeof track === 'string' &&
  bbox?.format === 'cxcywh_normalized' &&
  [score, bbox.cx, bbox.cy, bbox.width, bbox.height].every((value) => typeof value === 'number');

// Each stored line was serialised from an object.
const parse = (line: string) => JSON.parse(line) as TrackedObject;

const scoreOf = (line: string): number => parse(line).score;
