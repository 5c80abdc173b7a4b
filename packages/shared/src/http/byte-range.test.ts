import { expect, test } from '@jest/globals';
import { namesTag, readByteRange } from './byte-range.ts';

test.each([
  ['bytes=0-0', { first: 0, last: 0 }],
  ['bytes=2-5', { first: 2, last: 5 }],
  ['bytes=5-', { first: 5, last: 9 }],
  ['bytes=5-99999999999999999999999999', { first: 5, last: 9 }],
  ['bytes=-3', { first: 7, last: 9 }],
  ['bytes=-30', { first: 0, last: 9 }],
  ['Bytes= 1-2 ', { first: 1, last: 2 }],
  [undefined, 'whole'],
  ['', 'whole'],
  ['bytes=', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=5-2', 'whole'],
  ['bytes=0-1,3-4', 'whole'],
  ['bytes=0-1, bytes=3-4', 'whole'],
  ['items=0-1', 'whole'],
  ['bytes=0x1-2', 'whole'],
  ['bytes=1.5-2', 'whole'],
  ['bytes=--1', 'whole'],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=99999999999999999999999999-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
])('of ten bytes "%s" names %j', (header, expected) => {
  expect(readByteRange(header, 10)).toEqual(expected);
});

test('no range of an empty content can be satisfied', () => {
  expect([readByteRange('bytes=0-', 0), readByteRange('bytes=-1', 0)]).toEqual(['unsatisfiable', 'unsatisfiable']);
});

test.each([
  ['"a"', 'weak', true],
  ['W/"a"', 'weak', true],
  ['"b", "a"', 'weak', true],
  ['*', 'weak', true],
  ['"b"', 'weak', false],
  [undefined, 'weak', false],
  ['"a"', 'strong', true],
  ['W/"a"', 'strong', false],
  ['Tue, 24 Nov 2026 20:00:00 GMT', 'strong', false],
] as const)('%s names the tag "a" in a %s comparison: %s', (header, comparison, expected) => {
  expect(namesTag(header, '"a"', comparison)).toBe(expected);
});
