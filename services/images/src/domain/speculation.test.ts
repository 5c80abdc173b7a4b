import { beforeEach, expect, jest, test } from '@jest/globals';
import { createSpeculation } from './speculation.ts';
import type { Speculation } from './speculation.ts';

let speculation: Speculation;
beforeEach(() => {
  speculation = createSpeculation({ slots: 4 });
});

const id = (subject: string, key: string) => ({ subject, key });

test('a subject of unknown quota does not speculate', () => {
  expect(speculation.begin(id('a', '1'), 1)).toBeUndefined();
  expect(speculation.hasUnitsToSpare('a')).toBe(false);
});

test('ten units must remain beyond the units of a call', () => {
  speculation.noteUnitsLeft('a', 14);
  expect(speculation.begin(id('a', '1'), 5)).toBeUndefined();
  expect(speculation.begin(id('a', '2'), 4)).toBeDefined();
});

test('units of speculating calls are not available to others until these have ended', () => {
  speculation.noteUnitsLeft('a', 24);
  const first = speculation.begin(id('a', '1'), 10);
  expect(speculation.begin(id('a', '2'), 10)).toBeUndefined();
  first?.end();
  expect(speculation.begin(id('a', '2'), 10)).toBeDefined();
});

test('granted units are subtracted', () => {
  speculation.noteUnitsLeft('a', 30);
  expect(speculation.hasUnitsToSpare('a')).toBe(true);
  speculation.noteTaken('a', 11);
  expect(speculation.hasUnitsToSpare('a')).toBe(false);
});

test('one subject gets half of the slots, all subjects together at most all slots', () => {
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

test('only one of the calls with the same key speculates', () => {
  speculation.noteUnitsLeft('a', 1000);
  expect(speculation.begin(id('a', '1'), 1)).toBeDefined();
  expect(speculation.begin(id('a', '1'), 1)).toBeUndefined();
});

test('after a refusal the subject does not speculate, even with units left, until the refusal expires', () => {
  speculation.noteUnitsLeft('a', 1000);
  speculation.noteRefused('a');
  speculation.noteUnitsLeft('a', 1000);
  expect(speculation.begin(id('a', '1'), 1)).toBeUndefined();
  expect(speculation.hasUnitsToSpare('a')).toBe(false);
});

test('a known remainder expires after its time', () => {
  speculation.noteUnitsLeft('a', 1000);
  const now = performance.now();
  const clock = jest.spyOn(performance, 'now').mockReturnValue(now + 30_000);
  expect(speculation.begin(id('a', '1'), 1)).toBeUndefined();
  clock.mockRestore();
});
