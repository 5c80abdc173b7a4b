import fc from 'fast-check';
import type { Knex } from 'knex';
import { asAppError } from '@vision/contracts/errors';
import { createLogger } from '@vision/shared/logger';
import { segmentsIn } from '../../../services/results/src/clients/segment-store.ts';
import type { FoundSegment } from '../../../services/results/src/db/segments.ts';
import { decodeHeads } from '@vision/contracts/segments/head';
import { checksumOf } from '@vision/contracts/segments/pack';
import { encodeSegment } from '../../../services/results/src/domain/segments/segment.ts';
import { createSignals } from '../../../services/results/src/signals.ts';
import { showFrames } from '../../../services/results/src/use-cases/read/show-frames.ts';
import { object } from '../../../services/results/test/support.ts';
import { promise } from '../broken.ts';
import { createMemoryStore } from '../memory-store.ts';
import type { StoreAnswer } from '../memory-store.ts';
import { defineWorld } from '../world.ts';

const SEGMENTS = 2;
const segment = fc.integer({ min: 0, max: SEGMENTS - 1 });
const plan = fc.record({
  storeAnswers: fc.array(fc.constantFrom<StoreAnswer>('whole', 'half', 'away', 'lost'), { maxLength: 6 }),
  /** Callers of one process, each with the pages that it reads one after the other. */
  readers: fc.array(fc.array(segment, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
});
type Plan = typeof plan extends fc.Arbitrary<infer P> ? P : never;

/** The copy of each object is gone, as it is some minutes after the object was stored. */
const withoutCopies = (() => ({ where: () => ({ first: () => Promise.resolve(undefined) }) })) as unknown as Knex;
const signals = createSignals(createLogger('simulation', 'silent'));

/** Pages of frames in the object store are read by several callers at once while the store answers badly. */
export const pages = defineWorld<Plan>({
  name: 'pages',
  server: 'memory',
  plan,
  play: async (stage, { storeAnswers, readers }) => {
    const memory = createMemoryStore();
    const process = await stage.start('results');
    const store = segmentsIn(memory.of(process));
    const segments = encoded.map(({ found }) => found);
    for (const { found, body } of encoded) await store.put(found.objectKey ?? '', body);
    const read = async (index: number) => {
      const found = segments[index];
      if (!found) throw new Error('no such segment');
      const frames = found.heads.map((head, place) => ({ ...head, objects: { segment: found, index: place } }));
      const shown = await showFrames({ db: withoutCopies, signals, store }, frames, { minScore: 0, objects: {} });
      const scores = shown.map(
        ({ json }) => (JSON.parse(Buffer.from(json).toString()) as { score: number }[])[0]?.score,
      );
      promise(`page ${index} has its objects: ${scores.join(', ')}`, scores.join() === scoresOf(index).join());
    };
    memory.answerWith(storeAnswers);
    await stage.run(
      readers.map((reads) => async () => {
        for (const index of reads)
          await read(index).catch((error: unknown) => {
            if (asAppError(error)?.kind !== 'unavailable') throw error;
          });
      }),
    );
    memory.answerWith([]);
    for (const index of segments.keys())
      await read(index).catch((error: unknown) => promise(`page ${index} is readable: ${String(error)}`, false));
  },
});

const scoresOf = (index: number) => [0, 1, 2].map((frame) => (50 + 10 * index + frame) / 100);

const encoded = Array.from({ length: SEGMENTS }, (_, index): { found: FoundSegment; body: Buffer } => {
  const frames = scoresOf(index).map((score, seq) => {
    const size = { width: 640, height: 360 };
    return { seq, attempt: 1, position: seq + 1, frameTimeMs: seq * 200, ...size, objects: [object(score)] };
  });
  const { facts, heads, body } = encodeSegment(frames, 'small');
  const found: FoundSegment = {
    ...facts,
    bestScore: facts.bestScore ?? null,
    labels: facts.labels ?? null,
    id: `segment ${index}`,
    taskId: 'task',
    day: '2026-01-15',
    revision: 0,
    body: null,
    objectKey: `segment ${index}`,
    bytes: body.length,
    checksum: checksumOf(body),
    heads: decodeHeads(heads),
  };
  return { found, body };
});
