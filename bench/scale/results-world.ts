import { topics } from '@vision/contracts/topics';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { freePort } from '@vision/shared/testing/ports';
import { startProcess, untilReady } from '@vision/shared/testing/service-process';
import type { RunningProcess } from '@vision/shared/testing/service-process';
import { migrations } from '../../services/results/src/db/migrations/list.ts';
import { scratchDatabase } from '../scratch-database.ts';
import type { ScratchDatabase } from '../scratch-database.ts';
import { environmentOf } from './environment.ts';

/** A database and topics for the results service, which runs as a process once it is started. */
export interface ResultsWorld {
  database: ScratchDatabase;
  kafka: TestKafka;
  /** @param settings beside those of the world */
  start: (settings?: Record<string, string>) => Promise<RunningProcess & { url: string }>;
  /** Frames that are stored, of all tasks. */
  stored: () => Promise<number>;
  close: () => Promise<void>;
}

/** As many as the topic of frames has in production. */
export const PARTITIONS = 96;

export async function createResultsWorld(): Promise<ResultsWorld> {
  const database = await scratchDatabase(migrations, 2);
  const names = Object.values(topics);
  const kafka = await testKafka({ topics: names, partitions: (topic) => (topic === topics.frames ? PARTITIONS : 6) });
  let service: RunningProcess | undefined;
  return {
    database,
    kafka,
    start: async (settings = {}) => {
      const healthPort = await freePort();
      const environment = await environmentOf('results', { database, kafka, healthPort });
      const started = startProcess('results', {
        ...environment,
        TASKS_URL: 'http://127.0.0.1:9',
        IMAGES_URL: 'http://127.0.0.1:9',
        ...settings,
      });
      service = started;
      await untilReady(started, healthPort);
      return { ...started, url: `http://127.0.0.1:${environment['PORT']}` };
    },
    stored: async () => {
      const row = await database.db('ingests').sum<{ stored: string | null }>({ stored: 'stored' }).first();
      return Number(row?.stored ?? 0);
    },
    close: async () => {
      await service?.stop();
      await kafka.close();
      await database.drop();
    },
  };
}
