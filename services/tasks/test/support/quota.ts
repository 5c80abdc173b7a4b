import { randomUUID } from 'node:crypto';
import { createLogger } from '@vision/shared/logger';
import { createQuotaClient } from '@vision/shared/quota-client';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import type { TestKafka } from '@vision/shared/testing/kafka';
import { freePort } from './ports.ts';
import { migrateProcess, startProcess, untilReady } from './process.ts';
import type { RunningProcess } from './process.ts';

export interface RealQuota {
  url: string;
  database: TestDatabase;
  /** Reservations of a subject with what became of them. */
  reservations: (subject: string) => Promise<{ id: string; state: string; charged: number }[]>;
  /** Units that the counters of a subject say are used, over all days. */
  used: (subject: string) => Promise<number>;
  /** Asks for units of an image call under a key, as the images service does; returns what the ledger says. */
  reserveImages: (subject: string, key: string) => Promise<string>;
  start: () => Promise<void>;
  kill: () => Promise<void>;
  stop: () => Promise<void>;
}

/** The quota service as a process, on a database of its own. */
export async function startQuota({ kafka, tokenKey }: { kafka: TestKafka; tokenKey: string }): Promise<RealQuota> {
  const database = await createTestDatabase([]);
  const [port, healthPort] = [await freePort(), await freePort()];
  const env = {
    HOST: '127.0.0.1',
    PORT: String(port),
    HEALTH_PORT: String(healthPort),
    DATABASE_URL: database.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
    TOPIC_PREFIX: kafka.topicPrefix,
    INTERNAL_TOKEN_KEY: tokenKey,
    LOG_LEVEL: 'info',
  };
  const url = `http://127.0.0.1:${port}`;
  await migrateProcess('quota', env);
  let running: RunningProcess | undefined;
  const start = async () => {
    running = startProcess('quota', env);
    await untilReady(running, healthPort);
  };
  await start();
  return {
    url,
    database,
    reservations: (subject) => database.db('reservations').where({ subject }).select('id', 'state', 'charged'),
    used: async (subject) => {
      const rows: { used: number }[] = await database.db('quota_days').where({ subject, kind: 'video' }).select('used');
      return rows.reduce((sum, row) => sum + row.used, 0);
    },
    reserveImages: async (subject, key) => {
      const timeoutMs = 5_000;
      const quota = createQuotaClient({
        baseUrl: url,
        issuer: 'images',
        tokenKey,
        timeoutMs,
        logger: createLogger('test'),
      });
      const request = { idempotency_key: key, kind: 'image' as const, units: 1, limit: 100 };
      return (await quota.reserve(`${randomUUID()}/1`, subject, request)).outcome;
    },
    start,
    kill: async () => {
      running?.child.kill('SIGKILL');
      await running?.ended;
    },
    stop: async () => {
      await running?.stop();
      await database.drop();
    },
  };
}
