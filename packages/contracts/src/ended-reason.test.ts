import { expect, test } from '@jest/globals';
import { adviceFor, endedReason, endedReasons } from './ended-reason.ts';

test.each(['connection_failed', 'timeout', 'tls_invalid', 'address_forbidden', 'redirect_refused'])(
  'does not tell %s apart from other unreachable sources',
  (reason) => expect(endedReason(reason)).toBe('unreachable'),
);

test.each([
  ['auth_failed', 'auth_failed'],
  ['worker_crashed', 'service_fault'],
  ['ECONNREFUSED 10.0.0.7:554', 'unknown'],
  ['toString', 'unknown'],
  [null, 'unknown'],
])('shows %s as %s', (reason, shown) => expect(endedReason(reason)).toBe(shown));

test('advises in sentences that name no host', () => {
  for (const reason of endedReasons)
    expect(adviceFor(reason)).toMatch(/^[A-Z][^:/\d]*\.( ?[A-Z][^:/\d]*\.)*$|H\.26|MP4/);
});
