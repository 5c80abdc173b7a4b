import { expect, test } from '@jest/globals';
import { effectiveScore, parseResultQuery } from './result-query.ts';

test('without parameters the page has 100 frames at the threshold of the task', () => {
  expect(parseResultQuery({})).toEqual({ cursor: undefined, limit: 100, minScore: undefined });
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
])('asked for %p, a task with lower bound 0.3 and threshold 0.8 is filtered at %p', (asked, score) => {
  expect(effectiveScore(asked, { lowerBound: 0.3, defaultMinScore: 0.8 })).toBe(score);
});

test.each(['min-score', 'limit[]', 'offset', '__proto__x'])('a parameter that is called %s is refused', (name) => {
  expect(() => parseResultQuery({ [name]: '1' })).toThrow(
    expect.objectContaining({ reason: 'unknown_field', details: { field: name } }),
  );
});
