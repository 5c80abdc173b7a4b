import { hostname } from 'node:os';
import { asAppError } from '@vision/contracts/errors';
import { codesOf } from '@vision/shared/start/fault';
import { STORE_REFUSALS } from '@vision/shared/unavailable';
import { MARKS } from './bucket-owner.ts';
import { callStore } from './call-store.ts';
import type { Connection } from './call-store.ts';
import { get, list, remove } from './objects.ts';
import { abortIncomplete, put } from './uploads.ts';

/** What a service does with objects; docs/kubernetes.md lists the rights of S3 that each of these takes. */
export type StoreUse = 'read' | 'write' | 'write_parts' | 'list' | 'remove';

/** Below it each replica keeps an object for a moment while it starts. */
export const CHECKS = '.vision-check/';

const BODY = Buffer.from('vision');

interface Step {
  use: StoreUse;
  /** The rights of S3 that the step shows. */
  rights: string;
  run: (connection: Connection, key: string) => Promise<unknown>;
}

/** In this order: what is written is read, listed and removed again. */
const steps: Step[] = [
  {
    use: 'write',
    rights: 's3:PutObject',
    run: (connection, key) => put(connection, { key, body: BODY, contentType: 'text/plain' }),
  },
  {
    use: 'write_parts',
    rights: 's3:PutObject, s3:ListBucketMultipartUploads, s3:AbortMultipartUpload',
    run: async (connection, key) => {
      await callStore(connection, { operation: 'put_parts' }, (_client, session) =>
        session.beginUpload({ key, contentType: 'text/plain' }),
      );
      await abortIncomplete(connection, key);
    },
  },
  { use: 'read', rights: 's3:GetObject', run: readIfThere },
  { use: 'list', rights: 's3:ListBucket', run: (connection, key) => list(connection, key).next() },
  { use: 'remove', rights: 's3:DeleteObject', run: (connection, key) => remove(connection, [key]) },
];

/**
 * Does once what a service will do, with an object of this replica, which is gone afterwards, and reads the marks of
 * the databases that own these kinds of objects.
 * @returns the first right that is missing and where; undefined when all are there
 * @throws what is no refusal
 */
export async function missingRight(
  connection: Connection,
  uses: readonly StoreUse[],
  owned: readonly string[],
): Promise<string | undefined> {
  const key = `${CHECKS}${hostname()}-${process.pid}`;
  for (const { use, rights, run } of steps) {
    if (!uses.includes(use)) continue;
    try {
      await run(connection, key);
    } catch (error) {
      await leaveNothing(connection, key, uses);
      if (isRefusal(error)) return `${rights}, below ${CHECKS} too`;
      throw error;
    }
  }
  return missingRightOfMarks(connection, owned);
}

/** Only reads: each key below the marks of a kind counts as another database. */
async function missingRightOfMarks(connection: Connection, owned: readonly string[]): Promise<string | undefined> {
  for (const marks of owned.map((name) => `${MARKS}${name}/`)) {
    if (await isRefused(list(connection, marks).next())) return `s3:ListBucket below ${marks}`;
    if (await isRefused(readIfThere(connection, `${marks}absent`))) return `s3:GetObject below ${marks}`;
  }
  return undefined;
}

/** @throws what is no refusal */
async function isRefused(request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return false;
  } catch (error) {
    if (isRefusal(error)) return true;
    throw error;
  }
}

/** A service that only reads finds no object there; without the right the store would not say so. */
async function readIfThere(connection: Connection, key: string): Promise<void> {
  try {
    await get(connection, key, BODY.length);
  } catch (error) {
    if (asAppError(error)?.kind !== 'not_found') throw error;
  }
}

const isRefusal = (error: unknown) => codesOf(error).some((code) => STORE_REFUSALS.includes(code));

async function leaveNothing(connection: Connection, key: string, uses: readonly StoreUse[]): Promise<void> {
  if (uses.includes('write_parts')) await abortIncomplete(connection, key).catch(() => undefined);
  if (uses.includes('remove')) await remove(connection, [key]).catch(() => undefined);
}
