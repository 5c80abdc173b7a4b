import type { Knex } from 'knex';
import { frameProduced } from '@vision/shared/contracts/frame-events';
import { inTransaction } from '@vision/shared/db/transaction';
import { createApp } from '@vision/shared/http/app';
import { createHttpServer } from '@vision/shared/http/server';
import { createServiceAccess } from '@vision/shared/http/service-access';
import { createLogger } from '@vision/shared/logger';
import { servicePublicKeysConfig } from '@vision/shared/service-keys';
import { testPublicKeys, testToken } from '@vision/shared/testing/service-keys';
import { migrations } from '../services/results/src/db/migrations/list.ts';
import { createSegmentStore } from '../services/results/src/clients/segment-store.ts';
import { framesAfter } from '../services/results/src/db/frames.ts';
import { saveTaskView } from '../services/results/src/db/task-views.ts';
import { cursorCodec } from '../services/results/src/domain/cursor.ts';
import { dayOfTask } from '../services/results/src/domain/task-day.ts';
import { getResultsRoute } from '../services/results/src/http/get-results.ts';
import { createSignals } from '../services/results/src/signals.ts';
import { createPartitionKeeper } from '../services/results/src/use-cases/keep-partitions.ts';
import { storeFrames } from '../services/results/src/use-cases/store-frames.ts';
import { quantile, timed } from './figures.ts';
import type { Figure } from './figures.ts';
import { scratchDatabase } from './scratch-database.ts';
import { syntheticFrame, syntheticTaskId } from './synthetic-frames.ts';

export const name = 'page';

const FRAMES = 500;
const OBJECTS = 20;
const ROUNDS = 200;
const KEY = 'bench-key-bench-key-bench-key-bench-key';

/** A page of 500 frames over HTTP (token, task, cursor, filter) against only its statement, in alternating turns. */
export async function run(): Promise<{ figures: Figure[] }> {
  const database = await scratchDatabase(migrations, 4);
  const taskId = syntheticTaskId();
  const served = await serve(database.db, taskId);
  try {
    const range = { day: dayOfTask(taskId) ?? '', taskId, upToPosition: 1_000_000, limit: FRAMES + 1 };
    const pages: number[] = [];
    const statements: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      statements.push(await timed(() => framesAfter(database.db, range, -1)));
      pages.push(await timed(served.page));
    }
    const [warmPages, warmStatements] = [pages.slice(20), statements.slice(20)];
    return {
      figures: [
        { name: `page of ${FRAMES} frames of ${OBJECTS} objects, p50`, value: quantile(warmPages, 0.5), unit: 'ms' },
        { name: 'the same, p99', value: quantile(warmPages, 0.99), unit: 'ms' },
        { name: 'its statement alone, p50', value: quantile(warmStatements, 0.5), unit: 'ms' },
        { name: 'statement over page', value: quantile(warmStatements, 0.5) / quantile(warmPages, 0.5), unit: 'ratio' },
      ],
    };
  } finally {
    await served.stop();
    await database.drop();
  }
}

async function serve(db: Knex, taskId: string) {
  const logger = createLogger('bench', 'silent');
  await saveTaskView(db, {
    task_id: taskId,
    version: 1,
    subject: 'bench',
    status: 'running',
    lower_bound: 0.35,
    default_min_score: 0.8,
    result_expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  });
  const frames = Array.from({ length: FRAMES + 1 }, (_, seq) => syntheticFrame(taskId, seq, OBJECTS));
  const settings = {
    retentionDays: 90,
    endPatienceMs: 900_000,
    framePatienceMs: 60_000,
    auditAgeMs: 60_000,
    writeSegments: false,
    youngMs: 600_000,
  };
  await storeFrames(
    {
      settings,
      partitions: createPartitionKeeper(db, 90),
      signals: createSignals(logger),
      wakeRelay: () => undefined,
    },
    frames.map((data) => ({ kind: 'frame', data: frameProduced.schema.parse(data) })),
    (work) => inTransaction(db, work),
  );
  await db.raw('analyze frames');
  const taskOwners = { find: () => Promise.resolve(undefined), findKnown: () => Promise.resolve([]) };
  const route = getResultsRoute({
    db,
    taskOwners,
    settings,
    cursors: cursorCodec([KEY]),
    signals: createSignals(logger),
    store: createSegmentStore(undefined),
  });
  const publicKeys = servicePublicKeysConfig.SERVICE_PUBLIC_KEYS.parse(testPublicKeys);
  const access = createServiceAccess({ callee: 'results', publicKeys, logger });
  const app = createApp({ routes: [route], ...access, logger });
  const server = createHttpServer(app, { host: '127.0.0.1', port: 0 });
  const port = await server.start();
  const token = await testToken('gateway', 'results', { subject: 'bench' });
  return {
    page: async () => {
      const url = `http://127.0.0.1:${port}/v1/vision/tasks/${taskId}/results?limit=${FRAMES}`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(text);
    },
    stop: () => server.stop(100),
  };
}
