import type { Knex } from 'knex';
import { dayOfTask } from '@vision/contracts/ids';
import { frameProduced } from '@vision/contracts/frame-events';
import { inTransaction } from '@vision/shared/db/transaction';
import { createLogger } from '@vision/shared/logger';
import { migrations } from '../services/results/src/db/migrations/list.ts';
import { segmentsAfter } from '../services/results/src/db/segments.ts';
import { createSignals } from '../services/results/src/signals.ts';
import { createPartitionKeeper } from '../services/results/src/use-cases/retain/keep-partitions.ts';
import { storeFrames } from '../services/results/src/use-cases/store/store-frames.ts';
import { quantile, timed } from './figures.ts';
import type { Figure } from './figures.ts';
import { scratchDatabase } from './scratch-database.ts';
import { turnIntoRows } from '../services/results/test/rows.ts';
import { testSettings } from '../services/results/test/support.ts';
import { closedStore } from '../services/results/test/fold-deps.ts';
import { servePages, showTask } from './serve-pages.ts';
import { syntheticFrame, syntheticTaskId } from './synthetic-frames.ts';

export const name = 'page';

const FRAMES = 500;
const OBJECTS = 20;
const ROUNDS = 200;
const TOGETHER = [1, 1, 1, 2];

/**
 * A page of 500 frames over HTTP (token, task, cursor, filter) against only its statement, and against one of frames
 * that release 0.3 has stored as rows, in alternating turns.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const database = await scratchDatabase(migrations, 4);
  const [taskId, ofRows] = [syntheticTaskId(), syntheticTaskId()];
  for (const id of [taskId, ofRows]) {
    await showTask(database.db, id);
    await keepFrames(database.db, id);
  }
  await turnIntoRows(database.db, ofRows);
  await database.db.raw('analyze segments, frames');
  const served = await servePages(database.db, closedStore());
  try {
    const range = { day: dayOfTask(taskId) ?? '', taskId, upToPosition: 1_000_000 };
    const pages: number[] = [];
    const statements: number[] = [];
    const rowPages: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      statements.push(await timed(() => segmentsAfter(database.db, range, { seq: -1, limit: FRAMES + 1 })));
      pages.push(await timed(() => served.page(taskId)));
      rowPages.push(await timed(() => served.page(ofRows)));
    }
    const [warmPages, warmStatements, warmRows] = [pages.slice(20), statements.slice(20), rowPages.slice(20)];
    return {
      figures: [
        { name: `page of ${FRAMES} frames of ${OBJECTS} objects, p50`, value: quantile(warmPages, 0.5), unit: 'ms' },
        { name: 'the same, p99', value: quantile(warmPages, 0.99), unit: 'ms' },
        { name: 'its statement alone, p50', value: quantile(warmStatements, 0.5), unit: 'ms' },
        { name: 'the page of frames that are rows, p50', value: quantile(warmRows, 0.5), unit: 'ms' },
        { name: 'page of rows over page', value: quantile(warmRows, 0.5) / quantile(warmPages, 0.5), unit: 'ratio' },
        { name: 'statement over page', value: quantile(warmStatements, 0.5) / quantile(warmPages, 0.5), unit: 'ratio' },
      ],
    };
  } finally {
    await served.stop();
    await database.drop();
  }
}

/** As workers publish them that wait 250 ms: five frames in four segments. */
async function keepFrames(db: Knex, taskId: string): Promise<void> {
  const frames = Array.from({ length: FRAMES + 1 }, (_, seq) => syntheticFrame(taskId, seq, OBJECTS));
  const deps = {
    settings: testSettings,
    partitions: createPartitionKeeper(db, 90),
    signals: createSignals(createLogger('bench', 'silent')),
    wakeRelay: () => undefined,
  };
  for (let from = 0, run = 0; from < frames.length; run += 1) {
    const together = frames.slice(from, from + (TOGETHER[run % TOGETHER.length] ?? 1));
    await storeFrames(
      deps,
      together.map((data) => ({ kind: 'frame', data: frameProduced.schema.parse(data) })),
      (work) => inTransaction(db, work),
    );
    from += together.length;
  }
}
