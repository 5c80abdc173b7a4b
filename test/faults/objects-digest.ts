import { createHash } from 'node:crypto';

/** The same for the same objects, whatever the order of objects and fields. */
export function objectsDigest(objects: readonly object[]): string {
  const texts = objects.map(ordered).sort();
  return createHash('sha1').update(JSON.stringify(texts)).digest('base64').slice(0, 16);
}

const ordered = (value: object): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
