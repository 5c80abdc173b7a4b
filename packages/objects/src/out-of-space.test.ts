import { expect, test } from '@jest/globals';
import { isOutOfSpace } from './out-of-space.ts';

test.each([
  ['ENOSPC', true],
  ['EDQUOT', true],
  ['EIO', false],
  ['EACCES', false],
  ['ECONNRESET', false],
  ['NoSuchKey', false],
])('an error with the code %s: out of space is %s', (code, expected) => {
  expect(isOutOfSpace(Object.assign(new Error('write failed'), { code }))).toBe(expected);
});

test('an error without a code is no full disk', () => {
  expect(isOutOfSpace(new Error('ENOSPC: no space left on device'))).toBe(false);
});
