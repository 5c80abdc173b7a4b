import type { Knex } from 'knex';
import { inTransaction } from '@vision/shared/db/transaction';
import { createLogger } from '@vision/shared/logger';
import type { FrameData } from '@vision/contracts/frame-events';
import { createSignals } from '../../services/results/src/signals.ts';
import { createPartitionKeeper } from '../../services/results/src/use-cases/retain/keep-partitions.ts';
import { createRuleBook } from '../../services/results/src/use-cases/rules/rule-book.ts';
import { storeFrames } from '../../services/results/src/use-cases/store/store-frames.ts';
import { testSettings } from '../../services/results/test/support.ts';
import { closedStore } from '../../services/results/test/fold-deps.ts';
import { showTask } from '../serve-pages.ts';

/** What results works with; nothing answers for its object store. */
export const depsOf = (db: Knex) => ({
  db,
  partitions: createPartitionKeeper(db, 90),
  signals: createSignals(createLogger('bench', 'silent')),
  store: closedStore(),
  rules: createRuleBook(db),
  arrivals: { completeUntil: () => Promise.resolve(undefined) },
  settings: testSettings,
  taskOwners: { find: () => Promise.resolve(undefined), findKnown: () => Promise.resolve([]) },
  wakeRelay: () => undefined,
  wakeFold: () => undefined,
});

export type BenchDeps = ReturnType<typeof depsOf>;

/** Stores frames as the consumer of Kafka does. */
export async function keepFrames(deps: BenchDeps, frames: readonly FrameData[]): Promise<void> {
  const messages = frames.map((data) => ({ kind: 'frame' as const, data }));
  await storeFrames(deps, messages, (work) => inTransaction(deps.db, work));
}

/** Makes a task of an uploaded video known. */
export const showUpload = (db: Knex, taskId: string): Promise<void> => showTask(db, taskId, 'upload');
