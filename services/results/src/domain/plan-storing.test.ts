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
  end_status: null,
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

test('a mark comes into force once, and again when a newer attempt has one', () => {
  const first = plan(nothing, frame(0), end());
  expect(first).toMatchObject({ end: { status: 'succeeded' }, ingest: { end_status: 'succeeded' } });
  expect(plan(first.ingest, end()).end).toBeUndefined();
  const restarted = plan(first.ingest, frame(1, 2));
  expect(restarted).toMatchObject({ end: undefined, ingest: { end_status: null, attempt: 2 } });
  expect(plan(restarted.ingest, end(2)).end).toMatchObject({ attempt: 2 });
});

test('only the frames of this task that were not there count as stored late', () => {
  const late = plan({ ...nothing, stored: 5, position: 5, max_seq: 4 }, frame(5), frame(1), frame(2));
  const other = { taskId: 'another', position: 99 };
  expect(afterStoring(late, [{ taskId: id, position: 6 }, other])).toMatchObject({
    stored: 7,
    max_seq: 5,
    late_position: 6,
  });
  expect(afterStoring(late, [])).toMatchObject({ stored: 6, late_position: 0 });
});
