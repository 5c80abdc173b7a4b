import { randomBytes } from 'node:crypto';
import type { Infrastructure } from '../../deploy/local/infrastructure.ts';
import { Redis } from 'ioredis';
import { hastened } from '../faults/settings.ts';
import type { Replica } from '../faults/world/replicas.ts';

/** As in the chart: longer than anybody here keeps a connection that is not used, also when a timer is late. */
const DRAIN_MS = 5_000;

/**
 * Those of the fault suite, with the ordinary patience: nothing fails here, and what a slow machine delays must not be
 * taken for a failure.
 */
export const settings = {
  ...hastened,
  DRAIN_DELAY_MS: String(DRAIN_MS),
  LEASE_MS: '9000',
  KEY_WAIT_MS: '15000',
  STOP_WAIT_MS: '10000',
  SUBMIT_TIMEOUT_MS: '5000',
  BREAKER_RESET_MS: '5000',
  FRAME_PATIENCE_MS: '20000',
  RESULTS_GRACE_MS: '30000',
  JOBS_PER_WORKER: '24',
  LIVE_JOBS_PER_WORKER: '16',
  DATABASE_POOL: '10',
  SERVICE_TIMEOUT_MS: '10000',
  QUOTA_TIMEOUT_MS: '10000',
  REDIS_TIMEOUT_MS: '2000',
  JOB_LEASE_MS: '10000',
  JOB_LEASE_MARGIN_MS: '2000',
  SOURCE_NO_FRAME_MS: '20000',
};

/** What the local system does without, and what is rotated all the same. */
export const given = {
  inferenceToken: randomBytes(24).toString('base64url'),
  redisUser: 'rotated',
  redisPassword: randomBytes(24).toString('base64url'),
  /** The pair of keys that takes the place of the first. */
  nextS3Keys: { accessKey: randomBytes(10).toString('hex'), secretKey: randomBytes(20).toString('hex') },
};

/** A user with a password, which the gateways log in with. */
export async function makeRedisUser({ redisUrl }: Infrastructure): Promise<void> {
  await askRedis(redisUrl, ['ACL', 'SETUSER', given.redisUser, 'on', `>${given.redisPassword}`, '~*', '&*', '+@all']);
}

/** One command on a connection of its own. @throws what Redis said against it. */
export async function askRedis(url: string, [command = '', ...args]: string[]): Promise<unknown> {
  const client = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  let said: Error | undefined;
  client.on('error', (error: Error) => (said = error));
  try {
    await client.connect();
    return await client.call(command, ...args);
  } catch (error) {
    throw said ?? error;
  } finally {
    client.disconnect();
  }
}

/** Secrets of a process at its first start that it has not by itself. */
export function givenSecrets({ service, links }: Replica): NodeJS.ProcessEnv {
  if (service === 'gateway') {
    const port = String(links.get('redis')?.port);
    return { REDIS_URL: `redis://${given.redisUser}@127.0.0.1:${port}`, REDIS_PASSWORD: given.redisPassword };
  }
  return { INFERENCE_TOKEN: given.inferenceToken };
}
