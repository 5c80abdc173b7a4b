import { expect, test } from '@jest/globals';
import { expectedOf } from './frame-log.ts';
import type { LoggedEnd, LoggedFrame } from './frame-log.ts';

const place = (attempt: number, at: number): LoggedEnd => ({ jobId: 'job', attempt, at, partition: 0, offset: at });
const frame = (seq: number, attempt: number, at: number): LoggedFrame => ({
  ...place(attempt, at),
  seq,
  timeMs: seq,
  objects: '',
  isOfSegment: false,
});

test.each([
  ['a frame', [frame(7, 2, 3)], []],
  ['the end mark', [], [place(2, 3)]],
])('what an old attempt sends behind %s of a newer one need not be stored', (_what, frames, ends) => {
  const { frames: expected, fenced } = expectedOf([frame(0, 1, 1), frame(1, 1, 2), ...frames, frame(2, 1, 4)], ends);
  expect([...expected.keys()]).toEqual([0, 1, ...frames.map(({ seq }) => seq)]);
  expect([...fenced]).toEqual([2]);
});

test('the end mark of its own attempt, and what lies before that of a newer one, excuse no frame', () => {
  const { frames, fenced } = expectedOf([frame(0, 1, 1), frame(1, 1, 3)], [place(1, 2), place(2, 4)]);
  expect([...frames.keys()]).toEqual([0, 1]);
  expect(fenced.size).toBe(0);
});
