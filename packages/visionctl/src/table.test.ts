import { expect, test } from '@jest/globals';
import { facts, table } from './table.ts';

test('columns line up and missing values are a dash', () => {
  expect(table(['id', 'name'], [{ id: 'a', name: 'long' }, { id: 'bcd' }])).toBe('id   name\na    long\nbcd  -');
  expect(table(['id'], [])).toBe('(none)');
  expect(facts({ a: 1, name: { b: 2 } })).toBe('a     1\nname  {"b":2}');
});

test.each(['\u202e', '\u2028', '\u2029', '\u200b'])('%j in data does not reach the terminal', (character) => {
  expect(table(['id'], [{ id: `a${character}b` }])).toBe('id\na?b');
});

test('control characters in data do not reach the terminal', () => {
  expect(table(['id'], [{ id: 'a\u001b[31m\nb' }])).toBe('id\na?[31m?b');
});
