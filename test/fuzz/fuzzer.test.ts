import { expect, test } from '@jest/globals';
import { createFeedback } from './engine/feedback.ts';
import { fuzz } from './engine/fuzzer.ts';
import { runTarget } from './engine/run-target.ts';

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

/** The first inputs of a run in which one takes longer than `slowMs`, as hexadecimal digits. */
async function inputsWith(slowMs: number): Promise<string[]> {
  const feedback = createFeedback();
  feedback.edgeCount = 1;
  const inputs: string[] = [];
  const check = (input: Buffer) => {
    feedback.same(input.length, 7);
    feedback.same(input.toString('latin1').slice(0, 8), 'word');
    // Ten different findings end a run.
    if (inputs.length > COMPARED) throw new Error('x'.repeat(inputs.length - COMPARED));
  };
  const onInput = (input: Buffer) => void inputs.push(input.toString('hex'));
  const target = { maxBytes: 64, slowMs, check };
  await fuzz({ target, feedback, seeds: [Buffer.from('seed')], seed: 1, until: Infinity, onInput });
  return inputs.slice(0, COMPARED);
}
const COMPARED = 1000;

test('a seed leads to the same inputs, whether or not they are tried again for the time they take', async () => {
  const quick = await inputsWith(60_000);
  expect(new Set(quick).size).toBeGreaterThan(COMPARED / 10);
  expect(await inputsWith(-1)).toEqual(quick);
});

test('an input that waits for what never comes is a finding', async () => {
  const targetUrl = 'data:text/javascript,export const target = { maxBytes: 8, check: () => new Promise(() => {}) }';
  const { findings } = await runTarget({ targetUrl, instrumented: [], seeds: [], seed: 1, until: Date.now() + 60_000 });
  expect(findings.map(({ error }) => error)).toEqual(['waits for what never comes']);
});
