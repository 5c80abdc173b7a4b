import { expect, test } from '@jest/globals';
import { createFeedback } from './engine/feedback.ts';
import { fuzz } from './engine/fuzzer.ts';

test('an edge that every input passes a hundred times is news once, so that what is kept fills no memory', async () => {
  const feedback = createFeedback();
  feedback.edgeCount = 1;
  let bulkRuns = 0;
  const open = () => {
    bulkRuns += 1;
    return () => [];
  };
  const target = {
    maxBytes: 64,
    check: () => void (feedback.edges[0] = 100),
    // Of what is kept, one in 32 is made large.
    bulk: { kind: 'stream', open, mostMs: Infinity } as const,
  };
  const seeds = Array.from({ length: 1000 }, (_, at) => Buffer.from(String(at)));
  const { inputs } = await fuzz({ target, feedback, seeds, seed: 1, until: 0, onInput: () => undefined });
  expect(inputs).toBeGreaterThan(1000);
  expect(bulkRuns).toBeLessThan(3);
});
