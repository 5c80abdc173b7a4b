import fc from 'fast-check';
import { asAppError } from '@vision/contracts/errors';
import { migrations } from '../../../services/results/src/db/migrations/list.ts';
import { saveTaskView } from '../../../services/results/src/db/task-views.ts';
import type { FrameMessage } from '../../../services/results/src/domain/fold-events.ts';
import { createPartitionKeeper } from '../../../services/results/src/use-cases/retain/keep-partitions.ts';
import { frame, mark, object, snapshot, taskIdAt } from '../../../services/results/test/support.ts';
import { promise } from '../broken.ts';
import { createMemoryStore } from '../memory-store.ts';
import type { StoreAnswer } from '../memory-store.ts';
import { untilDeath } from '../steps.ts';
import { defineWorld } from '../world.ts';
import { startResults, SUBJECT } from './results-process.ts';
import type { ResultsProcess } from './results-process.ts';

const plan = fc.record({
  /** Frames of each batch of the first attempt. */
  batches: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
  /** A second attempt publishes so many of them again, and goes on. */
  repeated: fc.integer({ min: 0, max: 3 }),
  laterBatches: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }),
  storeAnswers: fc.array(fc.constantFrom<StoreAnswer>('whole', 'half', 'away', 'lost'), { maxLength: 5 }),
  /** Steps after which processes die. */
  storingLives: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
  movingLives: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  pausesMs: fc.array(fc.constantFrom(1_000, 61_000, 301_000), { maxLength: 2 }),
  reads: fc.integer({ min: 1, max: 3 }),
});
type Plan = typeof plan extends fc.Arbitrary<infer P> ? P : never;

/** Frames that are readable whatever happens from now on, from number 0. */
interface Acknowledged {
  batches: number;
  frames: number;
}

/** Frames of one task are stored, moved to the object store, verified and read, all at the same time. */
export const results = defineWorld<Plan>({
  name: 'results',
  server: 'pglite',
  schema: {
    migrations,
    tables: [
      'ingests',
      'frames',
      'segments',
      'segment_copies',
      'unindexed_objects',
      'late_frames',
      'task_views',
      'outbox',
    ],
  },
  plan,
  play: async (stage, { pausesMs, reads, storeAnswers, storingLives, movingLives, ...produced }) => {
    const taskId = taskIdAt(stage.time.now().getTime());
    const log = logOf(taskId, produced);
    const acknowledged = { batches: 0, frames: 0 };
    await saveTaskView(stage.db, snapshot(taskId, SUBJECT));
    await createPartitionKeeper(stage.db, 90).ensure([stage.time.now().toISOString().slice(0, 10)]);
    const store = createMemoryStore();
    store.answerWith(storeAnswers);
    const start = (name: string, livesFor?: number) => startResults(stage, { name, livesFor, taskId, store });
    const [storing, storingNext] = [await start('storing', storingLives), await start('storing next')];
    const [moving, movingNext] = [await start('moving', movingLives), await start('moving next')];
    const reading = await start('reading');

    await stage.run([
      async () => {
        await untilDeath(() => consume(storing, log, acknowledged));
        await consume(storingNext, log, acknowledged);
      },
      () => untilDeath(() => moving.tidy()),
      () => movingNext.tidy(),
      () => follow(reading, acknowledged, reads),
      () => stage.pass(pausesMs),
    ]);

    store.answerWith([]);
    for (let round = 0; round < 2; round += 1) {
      // Leases of processes that died expire, and objects are due to be verified.
      await stage.time.advance(301_000);
      await movingNext.tidy();
    }
    for (const process of [reading, movingNext])
      assertFrames(await process.read(), { from: 0, to: acknowledged.frames });
  },
});

/** What the broker has of the task: batches in their order. */
function logOf(
  taskId: string,
  { batches, repeated, laterBatches }: Pick<Plan, 'batches' | 'repeated' | 'laterBatches'>,
) {
  let next = 0;
  const batchesOf = (sizes: number[], attempt: number): FrameMessage[][] =>
    sizes.map((size) =>
      Array.from({ length: size }, () => {
        const objects = [object(scoreOf(next))];
        return { kind: 'frame', data: frame(taskId, next++, { attempt, objects }) };
      }),
    );
  const first = batchesOf(batches, 1);
  if (laterBatches.length === 0) return first;
  next = Math.max(0, next - repeated);
  return [...first, ...batchesOf(laterBatches, 2), [{ kind: 'end', data: mark(taskId, { attempt: 2 }) } as const]];
}

/** Numbers of frames show in their objects. */
const scoreOf = (seq: number) => (50 + seq) / 100;

/** Stores what follows on the last acknowledged batch. */
async function consume(process: ResultsProcess, log: FrameMessage[][], acknowledged: Acknowledged): Promise<void> {
  for (const batch of log.slice(acknowledged.batches)) {
    await process.store(batch);
    acknowledged.batches += 1;
    for (const { data } of batch) if ('seq' in data) acknowledged.frames = Math.max(acknowledged.frames, data.seq + 1);
  }
}

/** Reads on from page to page; a page that the object store keeps from its reader is read again. */
async function follow(process: ResultsProcess, acknowledged: Acknowledged, pages: number): Promise<void> {
  let cursor: string | undefined;
  let from = 0;
  for (let page = 0; page < pages; page += 1) {
    const before = acknowledged.frames;
    try {
      const { items, resume_cursor: next } = await process.read(cursor);
      assertFrames({ items }, { from, to: Math.max(before, from + items.length) });
      from += items.length;
      cursor = next;
    } catch (error) {
      if (asAppError(error)?.kind !== 'unavailable') throw error;
    }
  }
}

type Items = Pick<Awaited<ReturnType<ResultsProcess['read']>>, 'items'>;

function assertFrames({ items }: Items, { from, to }: { from: number; to: number }): void {
  const wanted = Array.from({ length: to - from }, (_, index) => [from + index, scoreOf(from + index)]);
  const read = items.map(({ frame_id: id, objects }) => [Number(id.split('-').at(-1)), objects[0]?.score]);
  promise(
    `acknowledged frames are read once and in order: wanted ${JSON.stringify(wanted)}, read ${JSON.stringify(read)}`,
    JSON.stringify(read) === JSON.stringify(wanted),
  );
}
