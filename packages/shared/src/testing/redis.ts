import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { testAddress } from './environment.ts';

export interface TestRedis {
  /** Carries the key prefix, so a service under test that is given this address keeps to it. */
  url: string;
  redis: Redis;
  /** Removes the keys of this run. */
  close: () => Promise<void>;
}

/** A corner of the Redis server for one test file: every key gets a prefix of its own. */
export async function testRedis(): Promise<TestRedis> {
  const keyPrefix = `t${randomBytes(5).toString('hex')}:`;
  const url = new URL(testAddress('TEST_REDIS_URL'));
  url.searchParams.set('keyPrefix', keyPrefix);
  const redis = new Redis(url.href);
  await redis.ping();
  return {
    url: url.href,
    redis,
    close: async () => {
      const plain = new Redis(testAddress('TEST_REDIS_URL'));
      for await (const keys of plain.scanStream({ match: `${keyPrefix}*`, count: 500 }) as AsyncIterable<string[]>) {
        if (keys.length > 0) await plain.unlink(...keys);
      }
      await plain.quit();
      await redis.quit();
    },
  };
}
