import { expect, test } from '@jest/globals';
import { interpolate, variablesIn } from './interpolate.ts';

test('references are filled in as docker compose does', () => {
  const file = { a: ['${ONE}', '$ONE-${TWO:-other}', '${EMPTY:-other}', '$$ONE', '${TWO:-}'], b: 5, c: null };
  const variables = { ONE: 'one', EMPTY: '' };
  expect(interpolate(file, variables)).toEqual({ a: ['one', 'one-other', 'other', '$ONE', ''], b: 5, c: null });
});

test('all variables that are missing are named at once, an empty one among them', () => {
  const file = { a: '${ONE:?run make env}', b: { c: '${TWO}' } };
  expect(() => interpolate(file, { ONE: '' })).toThrow(
    'required variable ONE is missing a value: run make env\nrequired variable TWO is missing a value: it has no default',
  );
});

test('a reference of another form is refused rather than passed over', () => {
  for (const text of ['${ONE:+x}', '${ONE-x}', '$(ONE)', 'a $ b'])
    expect(() => interpolate(text, { ONE: 'one' })).toThrow('no reference that docker compose would fill in');
});

test('a value is not looked through for further references', () => {
  expect(interpolate('${ONE}', { ONE: '$TWO' })).toBe('$TWO');
});

test('the names of all variables are found', () => {
  expect([...variablesIn('a ${ONE:-x} $TWO $$THREE ${FOUR:?why}')]).toEqual(['ONE', 'TWO', 'FOUR']);
});
