import { expect, test } from '@jest/globals';
import { createSecretBox } from '@vision/shared/secret-box';
import { historyCursor, readHistoryCursor } from './history-cursor.ts';

const box = createSecretBox([{ version: 1, key: Buffer.alloc(32, 7) }]);
// Of a length that leaves unused bits in the last character.
const TASK = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';

test('a cursor is read by its subject alone, and in exactly the text that was given', () => {
  const cursor = historyCursor(box, 'subject', TASK);
  expect(readHistoryCursor(box, 'subject', cursor)).toBe(TASK);
  expect(() => readHistoryCursor(box, 'other', cursor)).toThrow('next_cursor');
  const bytes = Buffer.from(cursor, 'base64url');
  const others = [`${cursor}=`, `${cursor} `, `${cursor}!`, bytes.toString('base64'), bytes.toString('hex')];
  for (const other of others.filter((text) => text !== cursor)) {
    expect(() => readHistoryCursor(box, 'subject', other)).toThrow('next_cursor');
  }
});
