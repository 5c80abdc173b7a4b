import { expect, test } from '@jest/globals';
import { answerChallenge } from './digest-auth.ts';

const credentials = { user: 'Mufasa', password: 'Circle Of Life' };
const request = { method: 'GET', uri: '/dir/index.html' };

test('a challenge without qop is answered as RFC 2069 says', () => {
  const nonce = 'dcd98b7102dd2f0e8b11d0f600bfb0c093';
  const answer = answerChallenge([`Digest realm="testrealm@host.com", nonce="${nonce}"`], credentials, request);
  expect(answer).toContain('response="670fd8c2df070c60b045671b8b24ff02"');
});

test('digest is preferred, basic is used alone, and what is unknown is not answered', () => {
  const challenges = ['Basic realm="cam"', 'Digest realm="cam", nonce="1", qop="auth", algorithm=SHA-256'];
  expect(answerChallenge(challenges, credentials, request)).toMatch(/^Digest username="Mufasa".*qop=auth, nc=00000001/);
  expect(answerChallenge(['Basic realm="cam"'], credentials, request)).toBe('Basic TXVmYXNhOkNpcmNsZSBPZiBMaWZl');
  expect(answerChallenge(['Digest realm="c", nonce="1", algorithm=MD4'], credentials, request)).toBeUndefined();
  expect(answerChallenge(['Negotiate'], credentials, request)).toBeUndefined();
});

test('an answer is one header line, with any control characters in a challenge', () => {
  const challenge = 'Digest realm="a\u0000\u001bb", nonce="c\u007f\td"';
  expect(answerChallenge([challenge], credentials, request)).toMatch(/^[ -~]+$/);
});
