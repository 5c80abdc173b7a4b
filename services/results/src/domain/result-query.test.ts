import { expect, test } from '@jest/globals';
import { effectiveScore, parseResultQuery } from './result-query.ts';

test('without parameters the page has 100 frames at the threshold of the task', () => {
  expect(parseResultQuery({})).toEqual({ cursor: undefined, limit: 100, objects: {}, skipEmpty: false });
  expect(parseResultQuery({ cursor: '' }).cursor).toBeUndefined();
});

test.each([
  ['1', 1],
  ['500', 500],
  ['007', 7],
])('limit %s is taken as %p', (text, limit) => {
  expect(parseResultQuery({ limit: text }).limit).toBe(limit);
});

test.each(['0', '501', 'abc', '', ' 5', '5 ', '+5', '-1', '1.0', '1e2', '0x10', 'NaN', '99999999999', '٣', ['5', '6']])(
  'limit %j is refused',
  (limit) => {
    expect(() => parseResultQuery({ limit })).toThrow(expect.objectContaining({ details: { field: 'limit' } }));
  },
);

test.each([
  ['0', 0],
  ['1', 1],
  ['0.80', 0.8],
  ['.5', 0.5],
  ['1.', 1],
  ['5e-1', 0.5],
  ['1.000', 1],
])('min_score %s is taken as %p', (text, score) => {
  expect(parseResultQuery({ min_score: text }).minScore).toBe(score);
});

test.each([
  '-0.1',
  '1.1',
  'NaN',
  'Infinity',
  '-Infinity',
  '',
  ' ',
  '0,5',
  '0x1',
  'abc',
  '1e5',
  '0.5 ',
  '1e-9999',
  ['0', '1'],
])('min_score %j is refused', (score) => {
  expect(() => parseResultQuery({ min_score: score })).toThrow(
    expect.objectContaining({ code: 'OP-TASK-REQUEST-INVALID', details: { field: 'min_score' } }),
  );
});

test.each([
  [undefined, 0.8],
  [0.1, 0.3],
  [0.3, 0.3],
  [0.5, 0.5],
  [1, 1],
])('with min_score %p, a task with lower bound 0.3 and threshold 0.8 is filtered at %p', (asked, score) => {
  expect(effectiveScore(asked, { lowerBound: 0.3, defaultMinScore: 0.8 })).toBe(score);
});

test.each(['min-score', 'limit[]', 'offset', '__proto__x'])('a parameter that is called %s is refused', (name) => {
  expect(() => parseResultQuery({ [name]: '1' })).toThrow(
    expect.objectContaining({ reason: 'unknown_field', details: { field: name } }),
  );
});

test('labels, track and region select objects; times and skip_empty select frames', () => {
  const { objects, times, skipEmpty } = parseResultQuery({
    labels: 'person,a b',
    track_id: 'a1-7',
    region: '0,0,1,0,1,1',
    from_ms: '5',
    skip_empty: 'true',
  });
  expect([...(objects.labels ?? [])]).toEqual(['person', 'a b']);
  expect([objects.trackId, objects.area?.anchor, skipEmpty]).toEqual(['a1-7', 'bottom_center', true]);
  expect(times).toEqual({ fromMs: 5, toMs: Number.MAX_SAFE_INTEGER });
  expect(parseResultQuery({ to_ms: '0' }).times?.fromMs).toBeLessThan(0);
});

test.each([
  ['labels', { labels: '' }],
  ['labels', { labels: 'a,,b' }],
  ['labels', { labels: Array(33).fill('a').join() }],
  ['labels', { labels: 'x'.repeat(101) }],
  ['labels', { labels: 'a\0b' }],
  ['labels', { labels: ['a', 'b'] }],
  ['track_id', { track_id: 'a/b' }],
  ['track_id', { track_id: 'x'.repeat(10_240) }],
  ['from_ms', { from_ms: '-9007199254740992' }],
  ['from_ms', { from_ms: '9007199254740992' }],
  ['to_ms', { to_ms: '1e3' }],
  ['to_ms', { from_ms: '5', to_ms: '5' }],
  ['to_ms', { from_ms: '6', to_ms: '5' }],
  ['anchor', { region: '0,0,1,0,1,1', anchor: 'top' }],
  ['anchor', { anchor: 'center' }],
  ['skip_empty', { skip_empty: 'yes' }],
  ['region', { region: '0,0,1,1' }],
  ['region', { region: ['0,0,1,0,1,1', '0,0,1,0,1,1'] }],
])('%s is refused in %j', (field, query: Record<string, unknown>) => {
  expect(() => parseResultQuery(query)).toThrow(expect.objectContaining({ details: { field } }));
});

test('labels of 100 characters of any script are taken, and 32 of them', () => {
  const labels = Array.from({ length: 32 }, (_, at) => '👷'.repeat(99) + String.fromCharCode(97 + at));
  expect(parseResultQuery({ labels: labels.join() }).objects.labels?.size).toBe(32);
});
