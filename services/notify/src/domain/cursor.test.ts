import { expect, test } from '@jest/globals';
import { eventCursorCodec } from './cursor.ts';

const place = { order: 'newest', position: 41, head: 57 } as const;
const [old, next] = ['o'.repeat(32), 'n'.repeat(32)];

test('a cursor decodes to its position, also when the secret that made it is no longer the first', () => {
  const cursor = eventCursorCodec([old]).encode('acme', place);
  expect(eventCursorCodec([next, old]).decode('acme', cursor)).toEqual(place);
});

test.each([
  ['another subject', (cursor: string) => ['rival', cursor]],
  ['one bit', (cursor: string) => ['acme', `B${cursor.slice(1)}`]],
  ['padding', (cursor: string) => ['acme', `${cursor}=`]],
  ['unused bits', (cursor: string) => ['acme', `${cursor.slice(0, -1)}${cursor.endsWith('B') ? 'C' : 'B'}`]],
  ['nothing', () => ['acme', '']],
] as const)('refuses a cursor with %s changed', (_what, change) => {
  const codec = eventCursorCodec([old]);
  const [subject = '', cursor = ''] = change(codec.encode('acme', place));
  expect(() => codec.decode(subject, cursor)).toThrow(/cursor/);
});

test('refuses cursors of a secret that was removed', () => {
  const cursor = eventCursorCodec([old]).encode('acme', place);
  expect(() => eventCursorCodec([next]).decode('acme', cursor)).toThrow(/cursor/);
});
