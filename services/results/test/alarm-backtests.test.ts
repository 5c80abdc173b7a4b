import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { testToken } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { frame, mark, newTaskId, object, snapshot, startResults } from './support.ts';
import type { TestResults } from './support.ts';

const forms = [
  { form: 'hot segments', settings: {} },
  { form: 'segments in the object store', settings: { SEGMENT_YOUNG_MS: '0', SEGMENT_INTERVAL_MS: '20' } },
];

interface Report {
  alarms: { alarm_id: string; state: string; opened_ms: number; closed_ms?: number; closed_by?: string }[];
  suppressed: number;
  frames_read: number;
  coverage: number;
  judged_to_ms: number;
  details: { reason: string; field?: string };
}

const present = { kind: 'object_present', labels: ['person'], min_score: 0.8 };
const HOUR_MS = 3_600_000;

async function tried(
  results: TestResults,
  body: object,
  subject = 'subject-a',
): Promise<{ status: number; body: Report }> {
  const token = await testToken('gateway', 'results', { subject });
  const response = await fetch(`http://127.0.0.1:${results.service.port}/v1/vision/alarm-backtests`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ when: present, from_ms: 0, to_ms: HOUR_MS, ...body }),
  });
  return { status: response.status, body: (await response.json()) as Report };
}

const times = ({ body }: { body: Report }) =>
  body.alarms.map(({ opened_ms: opened, closed_ms: closed, closed_by: by }) => [opened, closed, by]);

const newTask = async (results: TestResults, facts: Parameters<typeof snapshot>[2] = {}) => {
  const taskId = newTaskId();
  await results.tell(snapshot(taskId, 'subject-a', facts));
  return taskId;
};

/** Frames five times a second, with a person in the first ten seconds of each minute. */
const visits = (taskId: string, from: number, count: number, offsetMs = 0) =>
  Array.from({ length: count }, (_, index) => {
    const seq = from + index;
    const objects = (seq * 200) % 60_000 < 10_000 ? [object(0.9)] : [object(0.9, 'car')];
    return frame(taskId, seq, { objects, frame_time_ms: offsetMs + seq * 200 });
  });

describe.each(forms)('frames in $form:', ({ form, settings }) => {
  let results: TestResults;
  beforeAll(async () => {
    results = await startResults(settings);
  });
  afterAll(() => results.stop());

  test('tells what a rule would have raised, again and again the same', async () => {
    const taskId = await newTask(results);
    for (let from = 0; from < 900; from += 300) await results.deliver(visits(taskId, from, 300));
    if (form === 'segments in the object store')
      await until(async () => (await results.database.db('segments').whereNotNull('body')).length === 0);
    const asked = { task_id: taskId, min_interval_ms: 0 };
    const first = await tried(results, asked);
    expect(first.status).toBe(200);
    expect(times(first)).toEqual([
      [0, 15_000, 'cleared'],
      [60_000, 75_000, 'cleared'],
      [120_000, 135_000, 'cleared'],
    ]);
    // The upload has not ended: further frames may follow.
    expect(first.body).toMatchObject({ suppressed: 0, frames_read: 900, judged_to_ms: 179_801, coverage: 1 });
    expect((await tried(results, asked)).body).toEqual(first.body);
    const part = await tried(results, { ...asked, from_ms: 65_000, to_ms: 125_000 });
    expect(times(part)).toEqual([
      [65_000, 75_000, 'cleared'],
      [120_000, undefined, undefined],
    ]);
    expect(part.body).toMatchObject({ frames_read: 300, coverage: 1 });
    const seldom = await tried(results, { ...asked, min_interval_ms: 100_000 });
    expect([times(seldom).length, seldom.body.suppressed]).toEqual([2, 1]);
  });
});

describe('frames of a task:', () => {
  let results: TestResults;
  beforeAll(async () => {
    results = await startResults();
  });
  afterAll(() => results.stop());

  test('closes alarms with the end of an upload, and tells the end itself', async () => {
    const taskId = await newTask(results);
    await results.deliver([...visits(taskId, 0, 20), mark(taskId, { frames_published: 20 })]);
    expect(times(await tried(results, { task_id: taskId }))).toEqual([[0, undefined, undefined]]);
    const ended = {
      status: 'succeeded' as const,
      version: 2,
      ended_at: new Date().toISOString(),
      frames_published: 20,
    };
    await results.tell(snapshot(taskId, 'subject-a', ended));
    const whole = await tried(results, { task_id: taskId });
    expect(times(whole)).toEqual([[0, 3800, 'task_end']]);
    expect(whole.body).toMatchObject({ judged_to_ms: HOUR_MS, coverage: 1 });
    expect(times(await tried(results, { task_id: taskId, to_ms: 2000 }))).toEqual([[0, undefined, undefined]]);
    const when = { kind: 'task_ended', statuses: ['succeeded'] };
    expect(times(await tried(results, { task_id: taskId, when }))).toEqual([[3800, 3800, 'task_end']]);
  });

  test('tells silences of a stream, up to now', async () => {
    const taskId = await newTask(results, { kind: 'stream' });
    const from = Math.floor(Date.now() / 1000) * 1000 - 10 * 60_000;
    await results.deliver(visits(taskId, 0, 50, from));
    await results.deliver(visits(taskId, 800, 50, from));
    const when = { kind: 'source_down', for_ms: 30_000 };
    const report = await tried(results, { task_id: taskId, when, from_ms: from, to_ms: from + HOUR_MS });
    expect(times(report)).toEqual([
      [from + 9800 + 30_000, from + 160_000, 'cleared'],
      [from + 169_800 + 30_000, undefined, undefined],
    ]);
    // The stream is still running, and began when the task was created: long after its first frames, here.
    expect(report.body.judged_to_ms).toBeGreaterThan(from + 9 * 60_000);
    expect(report.body.judged_to_ms).toBeLessThanOrEqual(Date.now() + 1000);
  });

  test('ends with 500 alarms and says how far it came', async () => {
    const taskId = await newTask(results);
    const flickering = Array.from({ length: 6200 }, (_, seq) =>
      frame(taskId, seq, { objects: seq % 12 < 6 ? [object(0.9)] : [] }),
    );
    for (let at = 0; at < flickering.length; at += 1000) await results.deliver(flickering.slice(at, at + 1000));
    const asked = { task_id: taskId, when: { ...present, clear_ms: 1000 }, min_interval_ms: 0 };
    const { body } = await tried(results, asked);
    expect([body.alarms.length, body.judged_to_ms]).toEqual([500, 499 * 2400 + 1]);
    // The condition of the last alarm still holds then.
    const rest = await tried(results, { ...asked, from_ms: body.judged_to_ms });
    expect(rest.body.alarms.length).toBe(517 - 500 + 1);
  });

  test.each<[string, object, string, string]>([
    ['a time below zero', { when: { ...present, for_ms: -1 } }, 'rule_invalid', 'when.for_ms'],
    ['no label', { when: { ...present, labels: [] } }, 'rule_invalid', 'when.labels'],
    ['an unknown kind', { when: { kind: '__proto__' } }, 'rule_invalid', 'when.kind'],
    ['an unknown field in the rule', { when: { ...present, colour: 'red' } }, 'unknown_field', 'when.colour'],
    ['an unknown field', { colour: 'red' }, 'unknown_field', 'colour'],
    [
      'an unknown zone',
      { schedule: { time_zone: 'Mars/X', windows: [{ days: ['mon'], from: '00:00', to: '01:00' }] } },
      'time_zone_unknown',
      'schedule.time_zone',
    ],
    [
      '25 hours',
      { schedule: { time_zone: 'UTC', windows: [{ days: ['mon'], from: '25:00', to: '01:00' }] } },
      'rule_invalid',
      'schedule.windows.0.from',
    ],
    ['an interval below zero', { min_interval_ms: -1 }, 'rule_invalid', 'min_interval_ms'],
    ['more than six hours', { to_ms: 6 * HOUR_MS + 1 }, 'body_invalid', 'to_ms'],
    ['an end before its begin', { to_ms: -1 }, 'body_invalid', 'to_ms'],
  ])('refuses %s', async (_name, body, reason, field) => {
    const refused = await tried(results, { task_id: newTaskId(), ...body });
    expect([refused.status, refused.body.details]).toEqual([400, { reason, field }]);
  });

  test("says of another's task what it says of none", async () => {
    const taskId = await newTask(results);
    const foreign = await tried(results, { task_id: taskId }, 'subject-b');
    const none = await tried(results, { task_id: newTaskId() }, 'subject-b');
    expect([foreign.status, foreign.body.details]).toEqual([404, { reason: 'task_not_found' }]);
    expect([none.status, none.body.details]).toEqual([404, { reason: 'task_not_found' }]);
  });
});
