import { beforeEach, expect, jest, test } from '@jest/globals';
import { createHeadStarts } from './head-starts.ts';
import type { HeadStarts } from './head-starts.ts';

let headStarts: HeadStarts;
beforeEach(() => {
  headStarts = createHeadStarts({ places: 4 });
});

const id = (subject: string, key: string) => ({ subject, key });

test('a subject that nothing is known of has none', () => {
  expect(headStarts.begin(id('a', '1'), 1)).toBeUndefined();
  expect(headStarts.hasUnitsToSpare('a')).toBe(false);
});

test('ten units have to be left beyond what a call takes', () => {
  headStarts.noteUnitsLeft('a', 14);
  expect(headStarts.begin(id('a', '1'), 5)).toBeUndefined();
  expect(headStarts.begin(id('a', '2'), 4)).toBeDefined();
});

test('what calls ahead may take is not left for others, until they have ended', () => {
  headStarts.noteUnitsLeft('a', 24);
  const first = headStarts.begin(id('a', '1'), 10);
  expect(headStarts.begin(id('a', '2'), 10)).toBeUndefined();
  first?.end();
  expect(headStarts.begin(id('a', '2'), 10)).toBeDefined();
});

test('units that were granted are gone', () => {
  headStarts.noteUnitsLeft('a', 30);
  expect(headStarts.hasUnitsToSpare('a')).toBe(true);
  headStarts.noteTaken('a', 11);
  expect(headStarts.hasUnitsToSpare('a')).toBe(false);
});

test('one subject gets half of the places, all subjects together not more than there are', () => {
  for (const subject of ['a', 'b', 'c']) headStarts.noteUnitsLeft(subject, 1000);
  const begun = ['a', 'b', 'c'].map((subject) =>
    ['1', '2', '3'].map((key) => headStarts.begin(id(subject, key), 1)).filter((one) => one !== undefined),
  );
  expect(begun.map((ofOne) => ofOne.length)).toEqual([2, 2, 0]);
  begun[0]?.[0]?.end();
  begun[0]?.[0]?.end();
  expect([headStarts.begin(id('c', '1'), 1), headStarts.begin(id('c', '2'), 1)]).toEqual([
    expect.anything(),
    undefined,
  ]);
});

test('of calls with one key one is ahead', () => {
  headStarts.noteUnitsLeft('a', 1000);
  expect(headStarts.begin(id('a', '1'), 1)).toBeDefined();
  expect(headStarts.begin(id('a', '1'), 1)).toBeUndefined();
});

test('after a refusal what quota says of the day does not help, until it is forgotten', () => {
  headStarts.noteUnitsLeft('a', 1000);
  headStarts.noteRefused('a');
  headStarts.noteUnitsLeft('a', 1000);
  expect(headStarts.begin(id('a', '1'), 1)).toBeUndefined();
  expect(headStarts.hasUnitsToSpare('a')).toBe(false);
});

test('what is known is forgotten after its time', () => {
  headStarts.noteUnitsLeft('a', 1000);
  const now = performance.now();
  const clock = jest.spyOn(performance, 'now').mockReturnValue(now + 30_000);
  expect(headStarts.begin(id('a', '1'), 1)).toBeUndefined();
  clock.mockRestore();
});
