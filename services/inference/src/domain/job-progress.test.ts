import { expect, test } from '@jest/globals';
import { RAW_SCORES } from '@vision/contracts/calibration';
import { acknowledge, startOf } from './job-progress.ts';
import type { JobRecord } from './job.ts';

const job: JobRecord = {
  jobId: 'a',
  fingerprint: undefined,
  sceneCode: 'ship',
  lowerBound: 0.3,
  calibration: RAW_SCORES,
  model: undefined,
  source: { kind: 'object', key: 'k' },
  status: 'running',
  attempt: 2,
  claim: 'c',
  framesPublished: 40,
  lastSeq: 39,
  lastTimeMs: 7800,
  reservedSeq: 100,
  framesPartition: undefined,
  framesDropped: 0,
  behindSince: undefined,
  ending: undefined,
  error: undefined,
  hasSnapshots: false,
  giveUpAfterS: undefined,
  awayMs: undefined,
  strikes: 0,
  traceparent: null,
  tracestate: null,
};
const frames = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ seq: from + index, frame_time_ms: (from + index) * 200 }));

test('an attempt begins where the one before it ended', () => {
  expect(startOf(job)).toMatchObject({ framesPublished: 40, lastSeq: 39, lastTimeMs: 7800 });
});

test('samples of a file count once, also when a taken-over job repeats some', () => {
  const again = acknowledge(startOf(job), 'object', frames(38, 5));
  expect(again).toMatchObject({ framesPublished: 43, lastSeq: 42, lastTimeMs: 8400 });
});

test('live frames are counted one by one, with any numbers', () => {
  expect(acknowledge(startOf(job), 'stream', frames(5000, 3)).framesPublished).toBe(43);
});

test('what an attempt published is counted apart from what came before it', () => {
  const first = acknowledge(startOf(job), 'object', frames(38, 2));
  expect(acknowledge(first, 'object', frames(40, 3)).ofAttempt).toEqual({ count: 5, firstSeq: 38, lastSeq: 42 });
});

test('no frames change nothing', () => {
  const progress = startOf(job);
  expect(acknowledge(progress, 'stream', [])).toEqual(progress);
});
