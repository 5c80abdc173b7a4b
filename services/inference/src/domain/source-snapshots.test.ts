import { expect, test } from '@jest/globals';
import type { SourceChangedData } from '@vision/contracts/job-events';
import { createSnapshots } from './source-snapshots.ts';
import type { SourceFacts } from './source-snapshots.ts';

const job = { jobId: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10', attempt: 2 };

/** A source whose facts are read twice a second of a clock that the test moves. */
function polled(first: SourceFacts) {
  let atMs = 1_000_000;
  let facts = first;
  const snapshots = createSnapshots(job, () => atMs);
  snapshots.watch(() => facts);
  return {
    snapshots,
    /** Everything that is due within a time, with what changes at each step. */
    run: (seconds: number, change: (facts: SourceFacts) => SourceFacts = (same) => same) => {
      const due: SourceChangedData[] = [];
      for (let step = 0; step < 2 * seconds; step += 1) {
        atMs += 500;
        facts = change(facts);
        const snapshot = snapshots.next();
        if (snapshot) due.push(snapshot);
      }
      return due;
    },
  };
}

const streaming: SourceFacts = { state: 'streaming', frames: 0, sampleFps: 5 };
const atRate = (fps: number) => (facts: SourceFacts) => ({ ...facts, frames: (facts.frames ?? 0) + fps / 2 });

test('makes one snapshot a minute while nothing changes', () => {
  const source = polled(streaming);
  const due = source.run(180, atRate(5));
  expect(due).toHaveLength(3);
  expect(due.map(({ n }) => n)).toEqual([1, 2, 3]);
  expect(due.at(-1)).toMatchObject({ state: 'streaming', measured_fps: 5, since_ms: due[0]?.since_ms });
});

test.each<[string, Partial<SourceFacts>]>([
  ['a lost connection', { state: 'reconnecting', reason: 'connection_failed' }],
  ['another codec', { codec: 'hevc' }],
  ['another size', { image: { width: 640, height: 480 } }],
  ['a worker that is too slow', { isBehind: true }],
])('reports %s at once', (_what, changed) => {
  const source = polled(streaming);
  source.run(10, atRate(5));
  expect(source.run(0.5, (facts) => ({ ...facts, ...changed }))).toHaveLength(1);
});

test('reports a source that slows down within five seconds, and that it is fast again', () => {
  const source = polled(streaming);
  source.run(10, atRate(5));
  const slow = source.run(5, atRate(1));
  expect(slow).toHaveLength(1);
  expect(slow[0]?.measured_fps).toBeLessThan(3);
  expect(source.run(5, atRate(5))).toHaveLength(1);
});

test('a quiet source is stalled since its last frame', () => {
  const source = polled({ ...streaming, lastFrameAtMs: 998_000 });
  expect(source.run(0.5, (facts) => ({ ...facts, state: 'stalled' }))).toMatchObject([{ since_ms: 998_000 }]);
});

test('a frame that waits for a moment does not make a source blocked', () => {
  const source = polled(streaming);
  source.run(10, atRate(5));
  let step = 0;
  const flickering = (facts: SourceFacts): SourceFacts => {
    step += 1;
    return { ...atRate(5)(facts), state: step % 3 === 0 ? 'streaming' : 'blocked' };
  };
  expect(source.run(20, flickering)).toEqual([]);
  expect(source.run(4, (facts) => ({ ...atRate(5)(facts), state: 'blocked' }))).toMatchObject([{ state: 'blocked' }]);
});

test('leaves out a codec that is no plain word, and counts drops by reason', () => {
  const source = polled({ ...streaming, codec: 'rtsp://10.0.0.7' });
  source.snapshots.dropped('fresher', 3);
  source.snapshots.dropped('unsent', 1);
  const [snapshot] = source.run(0.5);
  expect(snapshot?.codec).toBeUndefined();
  expect(snapshot?.dropped).toEqual({ fresher: 3, no_number: 0, not_held: 0, unsent: 1 });
});
