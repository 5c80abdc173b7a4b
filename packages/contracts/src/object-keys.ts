/** Sorts behind every key of earlier releases, which go on with hexadecimal digits. */
const OF = 'of-';

/** What the keys of one kind begin with that a database writes; its id is in them. */
export const ownedPrefix = (prefix: string, databaseId: string): string => `${prefix}${OF}${databaseId}/`;

/** The rest of a key below `prefix`, without the part that names a database if it has one. */
export function withoutOwner(prefix: string, key: string): string | undefined {
  if (!key.startsWith(prefix)) return undefined;
  const rest = key.slice(prefix.length);
  return rest.startsWith(OF) ? rest.slice(rest.indexOf('/') + 1) : rest;
}
