import { expect, test } from '@jest/globals';
import { readAmf, writeAmf } from './amf0.ts';
import type { AmfValue } from './amf0.ts';

test('what is written is read again', () => {
  const object = new Map<string, AmfValue>([
    ['app', 'live'],
    ['__proto__', 1.5],
    ['list', ['a', new Map([['b', false]])]],
  ]);
  const values = ['connect', 1, object, null, undefined, true];
  expect(readAmf(writeAmf(values))).toEqual(values);
  expect(({} as Record<string, unknown>)['b']).toBeUndefined();
});

test('arrays with names, dates and long texts of servers are read', () => {
  const hex = '08ffffffff00016105000009' + '0b40000000000000000000' + '0c0000000161';
  expect(readAmf(Buffer.from(hex, 'hex'))).toEqual([new Map([['a', null]]), 2, 'a']);
});

test.each([
  ['a number that is cut off', '00000000'],
  ['a text that is cut off', '020010'],
  ['an object without an end', '0300016105'],
  ['a list that promises too much', '0affffffff'],
  ['a reference', '070000'],
  ['an unknown kind', '11'],
  ['objects in objects', '03000161'.repeat(50)],
  ['lists in lists', '0a00000001'.repeat(50)],
  ['too many values', '05'.repeat(2000)],
  ['a list of lists that multiply', `0a000003e8${'0a000003e8'.repeat(400)}`],
])('%s is no command', (_name, hex) => {
  expect(() => readAmf(Buffer.from(hex, 'hex'))).toThrow('unreadable');
});
