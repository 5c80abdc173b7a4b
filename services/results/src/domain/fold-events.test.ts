import { expect, test } from '@jest/globals';
import { foldMessages } from './fold-events.ts';
import type { FrameMessage } from './fold-events.ts';

const job = '01900000-0000-7000-8000-000000000001';
const frame = (seq: number, attempt = 1): FrameMessage => ({
  kind: 'frame',
  data: { job_id: job, attempt, seq, frame_time_ms: seq * 200, image: { width: 4, height: 3 }, objects: [] },
});
const end = (attempt = 1): FrameMessage => ({
  kind: 'end',
  data: { job_id: job, attempt, status: 'succeeded', frames_published: 3 },
});
const seen = (attempt: number, firstSeq: number | null = null, hasEnded = false) => ({ attempt, firstSeq, hasEnded });
const seqs = (messages: FrameMessage[], before = seen(-1)) =>
  foldMessages(messages, before).frames.map(({ seq }) => seq);

test('frames come out once each and in order', () => {
  expect(seqs([frame(2), frame(0), frame(1), frame(2), frame(0)])).toEqual([0, 1, 2]);
});

test('a frame of an attempt older than the newest one is ignored', () => {
  expect(seqs([frame(0, 1), frame(1, 2), frame(2, 1), frame(3, 2)])).toEqual([0, 1, 3]);
  expect(foldMessages([frame(5, 1)], seen(2))).toMatchObject({ frames: [], ignored: 1, attempt: 2 });
});

test('the end-of-stream marker of the newest attempt applies', () => {
  expect(foldMessages([frame(0), end()], seen(-1))).toMatchObject({ attempt: 1, end: { status: 'succeeded' } });
  expect(foldMessages([end(1), frame(0, 2)], seen(1))).toMatchObject({ attempt: 2, end: undefined, restarted: true });
  expect(foldMessages([frame(0, 2), end(1)], seen(1))).toMatchObject({ end: undefined, ignored: 1 });
});

test('stores frames that an older attempt published before the newer one began, also when they are read afterwards', () => {
  expect(seqs([frame(100, 2), frame(7, 1), frame(101, 2), frame(100, 1)])).toEqual([7, 100, 101]);
  expect(seqs([frame(7, 1)], seen(2, 100))).toEqual([7]);
  expect(foldMessages([frame(7, 1)], seen(2, 100, true))).toMatchObject({ frames: [], ignored: 1 });
});

test('reports another frame with the number of a known one, but no repeat', () => {
  const other: FrameMessage = frame(3);
  if (other.kind === 'frame') other.data.frame_time_ms = 1;
  expect(foldMessages([frame(3), frame(3), other], seen(-1))).toMatchObject({
    frames: [{ frame_time_ms: 600 }],
    conflicts: [{ seq: 3, keptAttempt: 1, refusedAttempt: 1 }],
  });
});
