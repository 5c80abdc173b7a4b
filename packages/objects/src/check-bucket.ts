import { codesOf, FaultError, away, rootMessage, tlsFault, wrong } from '@vision/shared/start/fault';
import type { Fault } from '@vision/shared/start/fault';
import type { StartCheck } from '@vision/shared/start/start-checks';
import { AppError } from '@vision/contracts/errors';
import { missingRight } from './check-rights.ts';
import type { StoreUse } from './check-rights.ts';
import { callStore, createConnection } from './call-store.ts';
import type { ObjectStoreOptions } from './call-store.ts';

const names = { store: 'the S3 service', address: 'S3_ENDPOINT', tls: 'S3_ENDPOINT', ca: 'S3_CA_FILE' };

/**
 * What a process asks the object store at its start: whether it has the bucket, and lets us use it as we will.
 * `owned`: kinds of objects that the database of the process owns.
 */
export const bucketCheck = (
  options: ObjectStoreOptions,
  uses: readonly StoreUse[],
  owned: readonly string[] = [],
): StartCheck => ({
  name: 'bucket',
  readyWhileAway: true,
  ask: () => checkBucket(options, uses, owned),
});

/** Asks once. @returns undefined when the bucket can be used in these ways. */
export async function checkBucket(
  options: ObjectStoreOptions,
  uses: readonly StoreUse[] = [],
  owned: readonly string[] = [],
): Promise<Fault | undefined> {
  const connection = createConnection({ ...options, deadlineMs: 5_000 });
  try {
    const isThere = await callStore(connection, { operation: 'look_at_bucket' }, (client) =>
      client.bucketExists(options.bucket),
    );
    if (!isThere) return wrong(`There is no bucket S3_BUCKET=${options.bucket} at S3_ENDPOINT=${options.endpoint}`);
    const rights = await missingRight(connection, uses, owned);
    return rights === undefined ? undefined : wrong(`${refusal(options)}: it needs ${rights}`);
  } catch (error) {
    return bucketFault(error, options);
  } finally {
    connection.close();
  }
}

/** Says in one sentence why the bucket cannot be used. */
export function bucketFault(error: unknown, options: ObjectStoreOptions): Fault {
  const cause = error instanceof AppError && error.cause !== undefined ? error.cause : error;
  const fault = faultOf(cause);
  if (fault) return fault;
  const codes = codesOf(cause);
  if (codes.some((code) => /AccessDenied|Forbidden|InvalidAccessKeyId|SignatureDoesNotMatch|UnknownError/.test(code)))
    return wrong(`${refusal(options)}: ${codes[0] ?? ''}`);
  return (
    tlsFault(cause, names) ?? away(`S3_ENDPOINT=${options.endpoint} does not answer: ${codes[0] ?? rootMessage(cause)}`)
  );
}

function refusal({ endpoint, bucket, identity }: ObjectStoreOptions): string {
  const who = whose(identity);
  return `${endpoint} (S3_ENDPOINT) refuses ${who} for the bucket S3_BUCKET=${bucket}`;
}

/** The client wraps what its source of keys throws. */
function faultOf(error: unknown): Fault | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1)
    if (at instanceof FaultError) return at.fault;
  return undefined;
}

function whose(identity: ObjectStoreOptions['identity']): string {
  if (!identity) return 'S3_ACCESS_KEY and S3_SECRET_KEY';
  return `the keys of ${'roleArn' in identity ? 'AWS_ROLE_ARN' : 'AWS_CONTAINER_CREDENTIALS_FULL_URI'}`;
}
