import { beforeEach, expect, jest, test } from '@jest/globals';
import { createSpeculation } from './speculation.ts';
import type { Speculation } from './speculation.ts';

let speculation: Speculation;
beforeEach(() => {
  speculation = createSpeculation({ slots: 4 });
});

const id = (subject: string, key: string) => ({ subject, key });

test('a subject that nothing is known of has none', () => {
  expect(speculation.begin(id('a', '1'), 1)).toBeUndefined();
  expect(speculation.hasUnitsToSpare('a')).toBe(false);
});

test('ten units have to be left beyond what a call takes', () => {
  speculation.noteUnitsLeft('a', 14);
  expect(speculation.begin(id('a', '1'), 5)).toBeUndefined();
  expect(speculation.begin(id('a', '2'), 4)).toBeDefined();
});

test('what calls ahead may take is not left for others, until they have ended', () => {
  speculation.noteUnitsLeft('a', 24);
  const first = speculation.begin(id('a', '1'), 10);
  expect(speculation.begin(id('a', '2'), 10)).toBeUndefined();
  first?.end();
  expect(speculation.begin(id('a', '2'), 10)).toBeDefined();
});

test('units that were granted are gone', () => {
  speculation.noteUnitsLeft('a', 30);
  expect(speculation.hasUnitsToSpare('a')).toBe(true);
  speculation.noteTaken('a', 11);
  expect(speculation.hasUnitsToSpare('a')).toBe(false);
});

test('one subject gets half of the places, all subjects together not more than there are', () => {
  for (const subject of ['a', 'b', 'c']) speculation.noteUnitsLeft(subject, 1000);
  const begun = ['a', 'b', 'c'].map((subject) =>
    ['1', '2', '3'].map((key) => speculation.begin(id(subject, key), 1)).filter((one) => one !== undefined),
  );
  expect(begun.map((ofOne) => ofOne.length)).toEqual([2, 2, 0]);
  begun[0]?.[0]?.end();
  begun[0]?.[0]?.end();
  expect([speculation.begin(id('c', '1'), 1), speculation.begin(id('c', '2'), 1)]).toEqual([
    expect.anything(),
    undefined,
  ]);
});

test('of calls with one key one is ahead', () => {
  speculation.noteUnitsLeft('a', 1000);
  expect(speculation.begin(id('a', '1'), 1)).toBeDefined();
  expect(speculation.begin(id('a', '1'), 1)).toBeUndefined();
});

test('after a refusal what quota says of the day does not help, until it is forgotten', () => {
  speculation.noteUnitsLeft('a', 1000);
  speculation.noteRefused('a');
  speculation.noteUnitsLeft('a', 1000);
  expect(speculation.begin(id('a', '1'), 1)).toBeUndefined();
  expect(speculation.hasUnitsToSpare('a')).toBe(false);
});

test('what is known is forgotten after its time', () => {
  speculation.noteUnitsLeft('a', 1000);
  const now = performance.now();
  const clock = jest.spyOn(performance, 'now').mockReturnValue(now + 30_000);
  expect(speculation.begin(id('a', '1'), 1)).toBeUndefined();
  clock.mockRestore();
});
