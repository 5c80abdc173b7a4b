import { expect, test } from '@jest/globals';
import { answerRefusal } from './rtmp-credentials.ts';

const credentials = { user: "o'neil", password: 'secret' };

test('the first refusal names the scheme, the second gives what is hashed', () => {
  const first = '[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ] : ';
  expect(answerRefusal(first, credentials)).toBe("?authmod=adobe&user=o'neil");
  const second =
    '[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=needauth&user=o&salt=ab12&challenge=cd34&opaque=ef56';
  expect(answerRefusal(second, credentials)).toMatch(
    /^\?authmod=adobe&user=o'neil&challenge=[0-9a-f]{8}&response=[\w+/]{22}==&opaque=ef56$/,
  );
});

test.each([
  '',
  'no',
  '[ authmod=llnw ] : ?reason=needauth',
  '[ authmod=adobe ] : ?reason=authfailed',
  '[ authmod=adobe ] : ?reason=nosuchuser&salt=1',
])('a refusal that asks for nothing else is final: %s', (description) => {
  expect(answerRefusal(description, credentials)).toBeUndefined();
});
