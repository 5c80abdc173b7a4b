import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { ownedPrefix } from '@vision/contracts/object-keys';

/** Objects of one kind that a database names. */
export interface NamedObjects {
  db: Knex;
  /** Names these objects among those of the bucket, as `videos`. */
  name: string;
  /** Below it lie these objects and nothing else. */
  prefix: string;
}

/**
 * What the new keys of a database begin with. Its id is in it, so databases that share a bucket never write the same
 * key, and each can tell its own objects. Stored objects are found by the key in their row, under any prefix.
 */
export async function ownPrefixOf({ db, name, prefix }: NamedObjects): Promise<string> {
  return ownedPrefix(prefix, await databaseIdOf(db, name));
}

/** The same, asked once; a failure is not kept. */
export function createOwnPrefix(objects: NamedObjects): () => Promise<string> {
  let asked: Promise<string> | undefined;
  return () => {
    asked ??= ownPrefixOf(objects).catch((error: unknown) => {
      asked = undefined;
      throw error;
    });
    return asked;
  };
}

/** The id that a database makes for itself the first time it is asked; every copy of the database has it too. */
async function databaseIdOf(db: Knex, name: string): Promise<string> {
  await db('bucket_owner').insert({ name, id: randomUUID() }).onConflict('name').ignore();
  const [id] = await db('bucket_owner').where({ name }).pluck<string[]>('id');
  if (id === undefined) throw new Error('the row of the bucket vanished');
  return id;
}
