import { expect, test } from '@jest/globals';
import { createQuery, createStreamQuery, createVideoQuery, meaningPrefix } from './create-query.ts';

test('takes the documented form of client_ref and no other', () => {
  for (const client_ref of ['gate-3', 'a', 'A.b_c:D-9', 'x'.repeat(64)]) {
    expect(createQuery.parse({ client_ref })).toEqual({ client_ref });
  }
  for (const client_ref of ['', 'x'.repeat(65), 'a b', 'a|b', 'a&b', 'a=b', 'ä', 'a\n', '\0', ['a', 'b'], 5, null]) {
    expect(createQuery.safeParse({ client_ref }).success).toBe(false);
  }
  expect(createQuery.safeParse({ clientref: 'a' }).success).toBe(false);
});

test('a request without parameters means what it meant before there were any', () => {
  expect(meaningPrefix({})).toBe('v1');
  expect(meaningPrefix({ client_ref: undefined })).toBe('v1');
  expect(meaningPrefix({ client_ref: 'gate-3' })).toBe('v2|client_ref=gate-3');
});

test('only video tasks have snapshots, and a repeat with another mode is another request', () => {
  expect(createQuery.safeParse({ snapshots: 'off' }).success).toBe(false);
  expect(createVideoQuery.safeParse({ snapshots: 'all' }).success).toBe(false);
  expect(createVideoQuery.parse({ client_ref: 'a', snapshots: 'tracks' })).toEqual({
    client_ref: 'a',
    snapshots: 'tracks',
  });
  const modes = [undefined, 'off', 'tracks'] as const;
  expect(new Set(modes.map((snapshots) => meaningPrefix({ snapshots }))).size).toBe(3);
});

test('only streams are waited for, for whole seconds from a minute to a day', () => {
  expect(createVideoQuery.safeParse({ give_up_after_s: '60' }).success).toBe(false);
  for (const seconds of ['60', '600', '86400'])
    expect(createStreamQuery.parse({ give_up_after_s: seconds })).toEqual({ give_up_after_s: Number(seconds) });
  for (const seconds of ['59', '86401', '', ' 60', '6e1', '0x3c', '60.5', '-60', 'NaN', ['60', '61'], null])
    expect(createStreamQuery.safeParse({ give_up_after_s: seconds }).success).toBe(false);
  expect(meaningPrefix({ give_up_after_s: 600 })).toBe('v2|give_up_after_s=600');
});
