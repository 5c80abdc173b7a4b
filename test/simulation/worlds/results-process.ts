import { createTaskLoops } from '@vision/shared/async/task-loops';
import { inTransaction } from '@vision/shared/db/transaction';
import { createLogger } from '@vision/shared/logger';
import { asUnavailable } from '@vision/shared/unavailable';
import { segmentsIn } from '../../../services/results/src/clients/segment-store.ts';
import { cursorCodec } from '../../../services/results/src/domain/cursor.ts';
import { parseResultQuery } from '../../../services/results/src/domain/result-query.ts';
import type { FrameMessage } from '../../../services/results/src/domain/fold-events.ts';
import { createSignals } from '../../../services/results/src/signals.ts';
import { compactFrames } from '../../../services/results/src/use-cases/segments/compact-frames.ts';
import { getResults } from '../../../services/results/src/use-cases/read/get-results.ts';
import { storeFrames } from '../../../services/results/src/use-cases/store/store-frames.ts';
import { verifySegments } from '../../../services/results/src/use-cases/segments/verify-segments.ts';
import { testSettings } from '../../../services/results/test/support.ts';
import type { MemoryStore } from '../memory-store.ts';
import type { Stage } from '../world.ts';

export const SUBJECT = 'subject-a';

interface Page {
  items: { frame_id: string; objects: { score: number }[] }[];
  resume_cursor: string;
}

/** A process of results. */
export interface ResultsProcess {
  store: (messages: FrameMessage[]) => Promise<void>;
  /** A round of moving frames to the object store, and one of verifying objects. */
  tidy: () => Promise<void>;
  read: (cursor?: string) => Promise<Page>;
}

interface StartOptions {
  name: string;
  livesFor: number | undefined;
  taskId: string;
  store: MemoryStore;
}

const logger = createLogger('simulation', 'silent');
const signals = createSignals(logger);
const loops = createTaskLoops(logger, ['compaction', 'deletions', 'fold', 'overdue_ends', 'stored_frames']);
const settings = { ...testSettings, hotMs: 0 };

export async function startResults(
  stage: Stage,
  { name, livesFor, taskId, store }: StartOptions,
): Promise<ResultsProcess> {
  const process = await stage.start(name, livesFor);
  const deps = {
    db: process.db,
    settings,
    signals,
    ownPrefix: () => Promise.resolve('own/'),
    loops,
    store: segmentsIn(store.of(process)),
    partitions: { ensure: () => Promise.resolve(new Set<string>()), prepareAhead: () => Promise.resolve() },
    wakeRelay: () => undefined,
    wakeFold: () => undefined,
    cursors: cursorCodec(['cursor-key-cursor-key-cursor-key-cursor']),
    taskOwners: { find: () => Promise.resolve(undefined), findKnown: () => Promise.resolve([]) },
  };
  return {
    store: async (messages) => {
      await storeFrames(deps, messages, (work) => inTransaction(process.db, work));
      process.assertAlive();
    },
    tidy: async () => {
      for (const round of [() => compactFrames(deps, new AbortController().signal), () => verifySegments(deps)])
        // Loops come again after an outage.
        await round().catch((error: unknown) => {
          if (!asUnavailable(error)) throw error;
        });
    },
    read: async (cursor) => {
      const query = parseResultQuery({ limit: '500', min_score: '0', cursor });
      const text = await getResults(deps, { subject: SUBJECT, taskId, query });
      return JSON.parse(text.toString()) as Page;
    },
  };
}
