import { expect, test } from '@jest/globals';
import { bucketFor, timelineRange } from './timeline-query.ts';

const MINUTE = 60_000;
const isFine = (query: { bucket_ms?: string }) => query.bucket_ms === '1000';
const stream = {
  kind: 'stream' as const,
  coverage: { to_ms: 1_790_000_000_000 },
  last_frame_time_ms: 1_790_000_000_000,
};

test('the service counts ten minutes of a stream by the second, and forty of a video', () => {
  const lengths = [10, 11, 40, 41].map((minutes) => minutes * MINUTE);
  expect(lengths.map((length) => isFine(bucketFor('stream', length)))).toEqual([true, false, false, false]);
  expect(lengths.map((length) => isFine(bucketFor('upload', length)))).toEqual([true, true, true, false]);
});

test.each([10 * MINUTE, 60 * MINUTE, 1440 * MINUTE])(
  'a range of %d ms ends at the time of the service, though the last frame is older',
  (lengthMs) => {
    const cut = { ...stream, last_frame_time_ms: stream.coverage.to_ms - 90_000 };
    const { from_ms: from = 0, to_ms: to = 0 } = timelineRange(cut, { lengthMs, isRunning: true });
    expect(to).toBeGreaterThanOrEqual(stream.coverage.to_ms);
    expect(to - from).toBe(lengthMs);
    // Buckets are whole seconds, so that none is at both ends.
    expect([from % 1000, to % 1000]).toEqual([0, 0]);
  },
);

test('while a task runs its range reaches as far as the source can have become older since', () => {
  const asked = { lengthMs: 10 * MINUTE };
  const ended = timelineRange(stream, { ...asked, isRunning: false }).to_ms ?? 0;
  const running = timelineRange(stream, { ...asked, isRunning: true }).to_ms ?? 0;
  expect(running - ended).toBe(5000);
});

test('a range holds the last frame, also where the time of the service is behind it', () => {
  const ahead = { ...stream, last_frame_time_ms: stream.coverage.to_ms + 2500 };
  const { to_ms: to = 0 } = timelineRange(ahead, { lengthMs: 10 * MINUTE, isRunning: false });
  expect(to).toBeGreaterThan(ahead.last_frame_time_ms);
});

test('all of a stream, and a video, have the range that the service gives them', () => {
  expect(timelineRange(stream, { lengthMs: undefined, isRunning: true })).toEqual({});
  const video = { kind: 'upload' as const, coverage: { to_ms: 0 } };
  expect(timelineRange({ ...video, duration_ms: 8000 }, { lengthMs: undefined, isRunning: false })).toEqual({
    bucket_ms: '1000',
  });
  expect(timelineRange(video, { lengthMs: undefined, isRunning: true })).toEqual({});
  expect(timelineRange(undefined, { lengthMs: 10 * MINUTE, isRunning: true })).toEqual({});
});
