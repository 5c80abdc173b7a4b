import { expect, test } from '@jest/globals';
import { dayOfTask, paramsOf } from './ids.ts';

const taskId = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';
const accepts = (name: string, value: string) => paramsOf(`/v1/things/{${name}}`).safeParse({ [name]: value }).success;

test('reads every parameter of a path by its own form', () => {
  const params = paramsOf('/v1/vision/tasks/{task_id}/tracks/{track_id}');
  const parsed = params.safeParse({ task_id: taskId.toUpperCase(), track_id: 'a1-7' });
  expect(parsed.data).toEqual({ task_id: taskId, track_id: 'a1-7' });
  expect(params.safeParse({ task_id: 'a1-7', track_id: 'a1-7' }).success).toBe(false);
});

test.each([
  ['task_id', [taskId], ['a1-7', '', `${taskId}0`]],
  ['track_id', ['a1-7', '7', '_', '...', 'x'.repeat(64)], ['', 'a/b', 'a b', 'é', 'x'.repeat(65), 'a1-7\n']],
  ['frame_id', [`${taskId}-0`, `${taskId}-2147483647`], [taskId, `${taskId}-`, `${taskId}-x`, `${taskId}-12345678901`]],
  ['rule_id', ['door', '0', `a${'-'.repeat(63)}`], ['Door', '-door', '', `a${'-'.repeat(64)}`, 'a.b']],
  ['token', ['x'.repeat(2048)], ['', 'a.b', 'x'.repeat(2049)]],
])('accepts a %s of its form only', (name, good, bad) => {
  expect(good.filter((value) => !accepts(name, value))).toEqual([]);
  expect(bad.filter((value) => accepts(name, value))).toEqual([]);
});

test.each(['task_id', 'track_id', 'frame_id', 'alarm_id', 'delivery_id', 'rule_id', 'endpoint_id', 'token'])(
  'refuses a %s that an address resolves to another path',
  (name) => {
    expect(['.', '..'].filter((value) => accepts(name, value))).toEqual([]);
  },
);

test('refuses a path with a parameter that has no form', () => {
  expect(() => paramsOf('/v1/vision/things/{thing_id}')).toThrow('thing_id has no form');
});

test.each([
  // The example of RFC 9562, appendix A.6: 2022-02-22T19:22:22Z.
  ['017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '2022-02-22'],
  ['017F22E2-79B0-7CC3-98C4-DC0C0C07398F', '2022-02-22'],
  ['00000000-0000-7000-8000-000000000000', '1970-01-01'],
])('the task %s was created on %s', (id, day) => {
  expect(dayOfTask(id)).toBe(day);
});

test.each(['9b2e4f3a-7c1d-4e5f-8a9b-0c1d2e3f4a5b', 'ffffffff-ffff-7fff-bfff-ffffffffffff', 'x', ''])(
  '%j says no day',
  (id) => {
    expect(dayOfTask(id)).toBeUndefined();
  },
);
