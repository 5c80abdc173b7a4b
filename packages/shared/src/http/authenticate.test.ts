import { expect, test } from '@jest/globals';
import { staticTokenCheck } from './authenticate.ts';

test('each of several tokens is accepted, so that one can take the place of another', () => {
  const isAccepted = staticTokenCheck(['the-old-token', 'the-new-token']);
  const withToken = (token: string) => isAccepted(['Authorization', `Bearer ${token}`]);
  expect([withToken('the-old-token'), withToken('the-new-token')]).toEqual([true, true]);
  expect([withToken('the-other-token'), withToken('the-old-token,the-new-token'), isAccepted([])]).toEqual([
    false,
    false,
    false,
  ]);
});
