import { expect, test } from '@jest/globals';
import { createConsoleCodes } from './console-codes.ts';

test('a code has 32 bytes and works once, within a minute', () => {
  const codes = createConsoleCodes();
  const { code, endsAt } = codes.issue('acme', 1_000);
  expect(code).toMatch(/^[\w-]{43}$/);
  expect(endsAt).toBe(61_000);
  expect(codes.redeem(`${code}x`, 2_000)).toBeUndefined();
  expect(codes.redeem(code, 60_999)).toBe('acme');
  expect(codes.redeem(code, 60_999)).toBeUndefined();
});

test('a code that is late works no more', () => {
  const codes = createConsoleCodes();
  const { code, endsAt } = codes.issue('acme', 0);
  expect(codes.redeem(code, endsAt)).toBeUndefined();
  expect(codes.redeem(code, 0)).toBeUndefined();
});

test('the oldest of too many codes make room', () => {
  const codes = createConsoleCodes();
  const all = Array.from({ length: 101 }, (_, index) => codes.issue(`s${index}`, 0).code);
  expect(codes.redeem(all[0] ?? '', 1)).toBeUndefined();
  expect(codes.redeem(all[100] ?? '', 1)).toBe('s100');
});
