import { randomUUID } from 'node:crypto';
import { createLogger } from '@vision/shared/logger';
import { createQuotaClient } from '../quota-client.ts';
import { createTestDatabase, migrationsOf } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { testPublicKeys, testSigner } from '@vision/shared/testing/service-keys';
import { freePort } from '@vision/shared/testing/ports';
import { startProcess, untilReady } from '@vision/shared/testing/service-process';
import type { RunningProcess } from '@vision/shared/testing/service-process';

export interface RealQuota {
  url: string;
  database: TestDatabase;
  /** Reservations of a subject and their outcomes. */
  reservations: (subject: string) => Promise<{ id: string; state: string; charged: number }[]>;
  /** Units that the counters of a subject say are used, over all days; of videos unless said otherwise. */
  used: (subject: string, kind?: 'video' | 'image') => Promise<number>;
  /** Asks for units of an image call under a key, as the images service does; returns what the ledger says. */
  reserveImages: (subject: string, key: string) => Promise<string>;
  start: () => Promise<void>;
  kill: () => Promise<void>;
  /** One more replica on the same database; `freeze` keeps it from doing anything until `wake`. */
  addReplica: () => Promise<QuotaReplica>;
  stop: () => Promise<void>;
}

export interface QuotaReplica {
  url: string;
  freeze: () => void;
  wake: () => void;
  stop: () => Promise<void>;
}

/** The quota service as a process, on a database of its own. */
export async function startQuota({ kafka }: { kafka: TestKafka }): Promise<RealQuota> {
  const database = await createTestDatabase(await migrationsOf('quota'));
  const port = await freePort();
  const env = {
    HOST: '127.0.0.1',
    DATABASE_URL: database.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
    TOPIC_PREFIX: kafka.topicPrefix,
    SERVICE_PUBLIC_KEYS: testPublicKeys,
    LOG_LEVEL: 'info',
  };
  const url = `http://127.0.0.1:${port}`;
  const startOn = async (ownPort: number): Promise<RunningProcess> => {
    const healthPort = await freePort();
    const replica = startProcess('quota', { ...env, PORT: String(ownPort), HEALTH_PORT: String(healthPort) });
    await untilReady(replica, healthPort);
    return replica;
  };
  let running: RunningProcess | undefined;
  const start = async () => {
    running = await startOn(port);
  };
  await start();
  return {
    ...viewOf({ url, database }),
    url,
    database,
    start,
    kill: async () => {
      running?.child.kill('SIGKILL');
      await running?.ended;
    },
    addReplica: async () => {
      const ownPort = await freePort();
      const replica = await startOn(ownPort);
      return {
        url: `http://127.0.0.1:${ownPort}`,
        freeze: () => void replica.child.kill('SIGSTOP'),
        wake: () => void replica.child.kill('SIGCONT'),
        stop: replica.stop,
      };
    },
    stop: async () => {
      await running?.stop();
      await database.drop();
    },
  };
}

/** What tests look at in the ledger, and ask of it. */
function viewOf({
  url,
  database,
}: {
  url: string;
  database: TestDatabase;
}): Pick<RealQuota, 'reservations' | 'used' | 'reserveImages'> {
  return {
    reservations: (subject) => database.db('reservations').where({ subject }).select('id', 'state', 'charged'),
    used: async (subject, kind = 'video') => {
      const rows: { used: number }[] = await database.db('quota_days').where({ subject, kind }).select('used');
      return rows.reduce((sum, row) => sum + row.used, 0);
    },
    reserveImages: async (subject, key) => {
      // A ledger on a busy machine is not away.
      const timeoutMs = 100_000;
      const quota = createQuotaClient({
        baseUrl: url,
        signer: testSigner('images'),
        timeoutMs,
        logger: createLogger('test'),
      });
      const request = { idempotency_key: key, kind: 'image' as const, units: 1, limit: 100 };
      return (await quota.reserve(`${randomUUID()}/1`, subject, request)).outcome;
    },
  };
}
