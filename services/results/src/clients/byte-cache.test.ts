import { expect, test } from '@jest/globals';
import { createByteCache } from './byte-cache.ts';

test('what was used last is remembered, and never more bytes than allowed', () => {
  const cache = createByteCache(1_000);
  const value = (name: string) => Buffer.alloc(250, name);
  for (const name of ['a', 'b', 'c', 'd']) cache.set(name, value(name));
  expect(cache.get('a')).toEqual(value('a'));
  cache.set('e', value('e'));
  expect(['a', 'b', 'c', 'd', 'e'].map((name) => cache.get(name) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
    true,
  ]);
  cache.set('large', Buffer.alloc(251));
  expect(cache.get('large')).toBeUndefined();
  expect(cache.get('a')).toBeDefined();
});
