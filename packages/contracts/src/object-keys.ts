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

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The id of the database that wrote the object of a key below `prefix`; undefined when the key names none. */
export function ownerOfKey(prefix: string, key: string): string | undefined {
  if (!key.startsWith(prefix + OF)) return undefined;
  const [id = ''] = key.slice(prefix.length + OF.length).split('/');
  return UUID.test(id) ? id : undefined;
}
