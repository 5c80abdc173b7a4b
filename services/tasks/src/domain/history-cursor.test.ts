import { expect, test } from '@jest/globals';
import { createSecretBox, secretKeys } from '@vision/shared/secret-box';
import { historyCursor, readHistoryCursor } from './history-cursor.ts';

const task = '01900000-0000-7000-8000-000000000001';
const acme = { subject: 'acme', order: 'newest' } as const;
const boxOf = (keys: string) => createSecretBox(secretKeys.parse(keys));
const fresh = `2:${Buffer.alloc(32, 2).toString('base64')}`;
/** Cursors were once signed with the key of stream addresses: such a key, and a cursor signed with it. */
const former = '1:c3RyZWFtIGFkZHJlc3Mga2V5IG9mIDMyIGJ5dGVzISE=';
const formerCursor = [
  'MDE5MDAwMDAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAxfDE6Y2JkMzM5YTEzNjgyOGRmNmYwNzYyNGNhYmQzNDg0ZmM5OWI0',
  'ZWE3ODE2OWNiOTU3OGZlMGUyNjFlNTdlN2I4NQ',
].join('');

test('accepts a cursor of an earlier key while the key is listed', () => {
  expect(readHistoryCursor(boxOf(`${fresh},${former}`), acme, formerCursor)).toBe(task);
  expect(() => readHistoryCursor(boxOf(fresh), acme, formerCursor)).toThrow(
    expect.objectContaining({ reason: 'cursor_invalid' }),
  );
});

test('signs cursors with the first key', () => {
  const cursor = historyCursor(boxOf(`${fresh},${former}`), acme, task);
  expect(readHistoryCursor(boxOf(fresh), acme, cursor)).toBe(task);
});

const cursor = historyCursor(boxOf(fresh), acme, task);
const text = Buffer.from(cursor, 'base64url').toString();

test.each([
  ['of another subject', historyCursor(boxOf(fresh), { ...acme, subject: 'other' }, task)],
  ['of the other order', historyCursor(boxOf(fresh), { ...acme, order: 'oldest' }, task)],
  ['made with another key', historyCursor(boxOf(`2:${Buffer.alloc(32, 3).toString('base64')}`), acme, task)],
  ['with another task', Buffer.from(text.replace('0001|', '0002|')).toString('base64url')],
  ['with another version', Buffer.from(text.replace('|2:', '|1:')).toString('base64url')],
  ['with something behind it', `${cursor}x`],
  ['with padding', `${cursor}=`],
  ['with a blank in it', `${cursor.slice(0, 5)} ${cursor.slice(6)}`],
  ['with more in it', Buffer.from(`${text}|`).toString('base64url')],
  ['in words', 'next'],
])('refuses a cursor %s', (_how, forged) => {
  expect(() => readHistoryCursor(boxOf(fresh), acme, forged)).toThrow(
    expect.objectContaining({ reason: 'cursor_invalid' }),
  );
});

test('accepts a cursor only in its exact text', () => {
  // The length leaves unused bits in the last character.
  const given = historyCursor(boxOf(fresh), acme, '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10');
  const bytes = Buffer.from(given, 'base64url');
  const others = [`${given} `, `${given}!`, bytes.toString('base64'), bytes.toString('hex')];
  for (const other of others.filter((spelling) => spelling !== given)) {
    expect(() => readHistoryCursor(boxOf(fresh), acme, other)).toThrow('next_cursor');
  }
});
