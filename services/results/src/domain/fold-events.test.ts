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
const seqs = (messages: FrameMessage[], newest = -1) => foldMessages(messages, newest).frames.map(({ seq }) => seq);

test('frames come out once each and in order', () => {
  expect(seqs([frame(2), frame(0), frame(1), frame(2), frame(0)])).toEqual([0, 1, 2]);
});

test('a frame of an older attempt than the newest seen is ignored', () => {
  expect(seqs([frame(0, 1), frame(1, 2), frame(2, 1), frame(3, 2)])).toEqual([0, 1, 3]);
  expect(foldMessages([frame(5, 1)], 2)).toMatchObject({ frames: [], ignored: 1, attempt: 2 });
});

test('the mark of the newest attempt is in force', () => {
  expect(foldMessages([frame(0), end()], -1)).toMatchObject({ attempt: 1, end: { status: 'succeeded' } });
  expect(foldMessages([end(1), frame(0, 2)], 1)).toMatchObject({ attempt: 2, end: undefined, restarted: true });
  expect(foldMessages([frame(0, 2), end(1)], 1)).toMatchObject({ end: undefined, ignored: 1 });
});
