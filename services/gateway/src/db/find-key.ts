import type { Knex } from 'knex';
import { findKeysInForce } from './api-keys.ts';
import type { KeyRecord } from './api-keys.ts';

/** The key if it is valid. */
export type FindKey = (keyId: string) => Promise<KeyRecord | undefined>;

const KEYS_AT_ONCE = 500;

interface Question extends PromiseWithResolvers<KeyRecord | undefined> {
  keyId: string;
}

/**
 * Looks up keys with one statement at a time, which serves all requests that arrived during the previous one. So
 * guessed keys use only one connection of the database, however many they are, and no valid key is refused because of
 * them.
 */
export function createFindKey(db: Knex): FindKey {
  const waiting: Question[] = [];
  let isAsking = false;
  const askForAll = async () => {
    isAsking = true;
    while (waiting.length > 0) await answer(db, waiting.splice(0, KEYS_AT_ONCE));
    isAsking = false;
  };
  return (keyId) => {
    const question: Question = { keyId, ...Promise.withResolvers<KeyRecord | undefined>() };
    waiting.push(question);
    if (!isAsking) void askForAll();
    return question.promise;
  };
}

async function answer(db: Knex, questions: Question[]): Promise<void> {
  try {
    const found = await findKeysInForce(
      db,
      questions.map(({ keyId }) => keyId),
    );
    for (const { keyId, resolve } of questions) resolve(found.get(keyId));
  } catch (error) {
    for (const { reject } of questions) reject(error);
  }
}
