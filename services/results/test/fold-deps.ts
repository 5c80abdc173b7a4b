import type { Knex } from 'knex';
import { createGate } from '@vision/shared/async/gate';
import { createSegmentStore } from '../src/clients/segment-store.ts';
import type { SegmentStore } from '../src/clients/segment-store.ts';
import { trackCursorCodec } from '../src/domain/track-cursor.ts';
import { createSignals } from '../src/signals.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { foldParts, logger, testSettings } from './support.ts';

/** Settings of an object store on a closed port: hot frames need none. */
export const CLOSED_STORE = {
  S3_ENDPOINT: 'http://127.0.0.1:1',
  S3_BUCKET: 'none',
  S3_ACCESS_KEY: 'none',
  S3_SECRET_KEY: 'none-none',
};

export const closedStore = (): SegmentStore =>
  createSegmentStore({
    endpoint: CLOSED_STORE.S3_ENDPOINT,
    region: 'none',
    bucket: CLOSED_STORE.S3_BUCKET,
    accessKey: CLOSED_STORE.S3_ACCESS_KEY,
    secretKey: CLOSED_STORE.S3_SECRET_KEY,
  });

/** Dependencies for tests that fold tasks themselves. */
export const foldDeps = (db: Knex, store: SegmentStore) => ({
  ...foldParts(db),
  db,
  partitions: createPartitionKeeper(db, 90),
  settings: testSettings,
  signals: createSignals(logger),
  store,
});

export const CURSOR_KEY = 'cursor-key-cursor-key-cursor-key-cursor';

/** The same, for tests that also read folded data. */
export const readDeps = (db: Knex, store: SegmentStore) => ({
  ...foldDeps(db, store),
  taskOwners: { find: () => Promise.resolve(undefined), findKnown: () => Promise.resolve([]) },
  timelines: createGate({ concurrency: 1 }),
  trackCursors: trackCursorCodec([CURSOR_KEY]),
  wakeFold: () => undefined,
});
