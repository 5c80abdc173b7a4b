import type { TrackedObject } from '@vision/shared/contracts/detection';

/**
 * The objects of a frame as they are stored: one JSON object per line, in the form the API shows, highest score first.
 * A page then needs no parsing and sorting: it takes the first lines, found by looking at a few of them.
 */
export function toStored(objects: TrackedObject[]): string {
  return [...objects]
    .sort((a, b) => b.score - a.score)
    .map((object) => JSON.stringify(object))
    .join('\n');
}

/**
 * The stored objects at or above a score, as a JSON array, and how many there are in all. JSON has no raw line break
 * inside a value, so a line is an object whatever a label says.
 */
export function selectObjects(stored: string, minScore: number): { json: string; total: number } {
  if (stored === '') return { json: '[]', total: 0 };
  const lines = stored.split('\n');
  let low = 0;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (scoreOf(lines[middle] ?? '') >= minScore) low = middle + 1;
    else high = middle;
  }
  return { json: `[${lines.slice(0, low).join(',')}]`, total: lines.length };
}

function scoreOf(line: string): number {
  return (JSON.parse(line) as TrackedObject).score;
}
