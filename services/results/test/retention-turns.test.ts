import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testS3 } from '@vision/objects/testing/s3';
import type { TestS3 } from '@vision/objects/testing/s3';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { noteObject } from '../src/db/segment-objects.ts';
import { createSignals } from '../src/signals.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { ownSegmentPrefix } from '../src/use-cases/retain/owned-segments.ts';
import { retentionInTurn } from '../src/use-cases/retain/retention-in-turn.ts';
import { logger, testResults, testSettings } from './support.ts';

let database: TestDatabase;
let s3: TestS3;
let bucket: SegmentStore;
beforeAll(async () => {
  [database, s3] = await Promise.all([testResults(), testS3()]);
  bucket = createSegmentStore(s3);
});
afterAll(async () => {
  bucket.close();
  await Promise.all([database.drop(), s3.close()]);
});

const HOUR_MS = 3_600_000;
const today = new Date().toISOString().slice(0, 10);

/** One replica, for which today has expired, with a bucket that seems to have these keys. */
function replica(keys: Set<string>, onRemoved: () => void = () => undefined) {
  const store: SegmentStore = {
    ...bucket,
    list: async function* () {
      await Promise.resolve();
      yield* [...keys];
    },
    remove: (removed) => {
      removed.forEach((key) => keys.delete(key));
      onRemoved();
      return Promise.resolve();
    },
  };
  const { db } = database;
  const partitions = createPartitionKeeper(db, -1);
  const settings = { ...testSettings, retentionDays: -1 };
  const signals = createSignals(logger);
  const deps = { db, logger, ownPrefix: ownSegmentPrefix({ db }), partitions, settings, signals, store };
  return (signal: AbortSignal) => retentionInTurn(deps, { everyMs: HOUR_MS, signal });
}

test('one replica removes an expired day; it stops between two batches, and the next turn continues', async () => {
  const keys = new Set(Array.from({ length: 1_200 }, (_, index) => `segments/${today}/${index}`));
  await createPartitionKeeper(database.db, -1).prepareAhead();
  await noteObject(database.db, { objectKey: 'segments/on-its-way', day: today });
  const stopping = new AbortController();
  await replica(keys, () => stopping.abort())(stopping.signal);
  expect(keys.size).toBe(700);

  const on = new AbortController().signal;
  await replica(keys)(on);
  expect(keys.size).toBe(700);

  await database
    .db('audit_marks')
    .where({ kind: 'results_retention' })
    .update({ mark: new Date(Date.now() - HOUR_MS) });
  await replica(keys)(on);
  expect(keys.size).toBe(0);
});
