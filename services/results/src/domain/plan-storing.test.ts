import { expect, test } from '@jest/globals';
import type { FrameMessage } from './fold-events.ts';
import { afterStoring, planStoring } from './plan-storing.ts';
import type { Ingest } from './plan-storing.ts';

const id = '01900000-0000-7000-8000-000000000001';
const nothing: Ingest = {
  task_id: id,
  attempt: -1,
  stored: 0,
  position: 0,
  max_seq: -1,
  late_position: 0,
  late_listed: 0,
  attempt_stored: 0,
  attempt_first: null,
  attempt_last: null,
  pending_end: null,
  end_status: null,
  end_frames: null,
};
const frame = (seq: number, attempt = 1): FrameMessage => ({
  kind: 'frame',
  data: { job_id: id, attempt, seq, frame_time_ms: seq * 200, image: { width: 4, height: 3 }, objects: [] },
});
const end = (attempt = 1): FrameMessage => ({
  kind: 'end',
  data: { job_id: id, attempt, status: 'succeeded', frames_published: 3 },
});
const plan = (before: Ingest, ...messages: FrameMessage[]) => planStoring(before, '2026-03-01', messages);

test('frames beyond the largest stored number are new, others may be there already; places go on', () => {
  const { ingest, newFrames, doubtfulFrames } = plan({ ...nothing, position: 7, max_seq: 4 }, frame(6), frame(2));
  expect(doubtfulFrames.map(({ seq, position }) => [seq, position])).toEqual([[2, 8]]);
  expect(newFrames.map(({ seq, position }) => [seq, position])).toEqual([[6, 9]]);
  expect(ingest.position).toBe(9);
});

test('an end-of-stream marker is applied once, and again when a newer attempt has one', () => {
  const first = afterStoring(plan(nothing, frame(0), end()), []);
  expect(first).toMatchObject({ end: { status: 'succeeded' }, ingest: { end_status: 'succeeded' } });
  expect(plan(first.ingest, end()).end).toBeUndefined();
  const restarted = afterStoring(plan(first.ingest, frame(1, 2)), []);
  expect(restarted).toMatchObject({ end: undefined, ingest: { end_status: null, attempt: 2, attempt_stored: 1 } });
  expect(plan(restarted.ingest, end(2)).end).toMatchObject({ attempt: 2 });
});

test('only the frames of this task that were not there count as stored late', () => {
  const late = plan({ ...nothing, attempt: 1, stored: 5, position: 5, max_seq: 4 }, frame(5), frame(1), frame(2));
  const inserted = { taskId: id, seq: 1, outcome: 'inserted', keptAttempt: 1 } as const;
  expect(afterStoring(late, [inserted, { ...inserted, taskId: 'another', seq: 2 }]).ingest).toMatchObject({
    stored: 7,
    max_seq: 5,
    late_position: 6,
    attempt_stored: 2,
    attempt_first: 1,
    attempt_last: 5,
  });
  expect(afterStoring(late, []).ingest).toMatchObject({ stored: 6, late_position: 0, attempt_stored: 1 });
});

const endOf = (count: number, first_seq: number, last_seq: number, attempt = 1): FrameMessage => ({
  kind: 'end',
  data: {
    job_id: id,
    attempt,
    status: 'succeeded',
    frames_published: 3,
    attempt_frames: { count, first_seq, last_seq },
  },
});

test('an end-of-stream marker waits until its frames are stored', () => {
  const early = afterStoring(plan(nothing, frame(0), frame(2), endOf(3, 0, 2)), []);
  expect(early).toMatchObject({ end: undefined, ingest: { end_status: null, pending_end: { attempt: 1 } } });
  const inserted = { taskId: id, seq: 1, outcome: 'inserted', keptAttempt: 1 } as const;
  const late = afterStoring(plan(early.ingest, frame(1)), [inserted]);
  expect(late).toMatchObject({ end: { attempt: 1 }, ingest: { end_status: 'succeeded', pending_end: null } });
});

test('a waiting end-of-stream marker is discarded when another attempt continues', () => {
  const early = afterStoring(plan(nothing, frame(0), endOf(2, 0, 1)), []);
  expect(afterStoring(plan(early.ingest, frame(5, 2)), []).ingest).toMatchObject({ pending_end: null, attempt: 2 });
});

test('frames of an earlier attempt that this one repeats count for its end-of-stream marker', () => {
  const before: Ingest = { ...nothing, attempt: 1, stored: 2, position: 2, max_seq: 1, attempt_stored: 2 };
  const repeated = plan(before, frame(1, 2), frame(2, 2), endOf(2, 1, 2, 2));
  expect(afterStoring(repeated, []).end).toBeUndefined();
  const adopted = { taskId: id, seq: 1, outcome: 'adopted', keptAttempt: 1 } as const;
  expect(afterStoring(repeated, [adopted]).end).toMatchObject({ attempt: 2 });
});

test('a frame whose number another frame has is reported', () => {
  const before: Ingest = { ...nothing, attempt: 1, stored: 2, position: 2, max_seq: 1 };
  const different = { taskId: id, seq: 1, outcome: 'different', keptAttempt: 1 } as const;
  expect(afterStoring(plan(before, frame(1, 2)), [different]).conflicts).toEqual([
    { seq: 1, keptAttempt: 1, refusedAttempt: 2 },
  ]);
});
