import { MARKS } from '@vision/objects/bucket-owner';
import { createObjectStore } from '@vision/objects/object-store';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { AskResults } from '../support/stored-frames.ts';
import type { World } from './world/world.ts';

/** The stores of the system, read past the proxies, as an auditor would. */
export interface Stores {
  query: <T>(service: string, sql: string, parameters?: unknown[]) => Promise<T[]>;
  /** The same of results, whose frames have two forms (`test/support/stored-frames.ts`). */
  askResults: AskResults;
  objects: () => Promise<string[]>;
  incompleteUploads: () => Promise<number>;
  /** Requests that are counted as in flight. */
  takenSlots: () => Promise<number>;
  close: () => Promise<void>;
}

export interface StoreAddresses extends Pick<World, 's3' | 'redisUrl'> {
  database: Pick<World['database'], 'url'>;
}

export function openStores(world: StoreAddresses): Stores {
  const pools = new Map<string, pg.Pool>();
  const store = createObjectStore(world.s3);
  const redis = new Redis(world.redisUrl);
  redis.on('error', () => undefined);
  const poolOf = (service: string): pg.Pool => {
    const url = new URL(world.database.url());
    url.pathname = `/vision_${service}`;
    const known = pools.get(url.href);
    if (known) return known;
    const pool = new pg.Pool({ connectionString: url.href, max: 2 });
    // A server that is killed in a run takes idle connections with it.
    pool.on('error', () => undefined);
    pools.set(url.href, pool);
    return pool;
  };
  const query = async <T>(service: string, sql: string, parameters: unknown[] = []) =>
    (await poolOf(service).query(sql, parameters)).rows as T[];
  return {
    query,
    askResults: (sql, parameters) => query('results', sql, parameters),
    objects: async () => {
      const keys: string[] = [];
      for await (const { key } of store.list('')) if (!key.startsWith(MARKS)) keys.push(key);
      return keys;
    },
    incompleteUploads: () => store.abortIncomplete(''),
    takenSlots: async () => {
      const keys = await redis.keys('*slots:*');
      const counts = await Promise.all(keys.map((key) => redis.zcount(key, Date.now(), '+inf')));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    close: async () => {
      store.close();
      redis.disconnect();
      await Promise.all([...pools.values()].map((pool) => pool.end()));
    },
  };
}
