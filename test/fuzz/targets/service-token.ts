import assert from 'node:assert/strict';
import { sign } from 'node:crypto';
import { callers, callees } from '@vision/contracts/allowed-calls';
import { bearerToken } from '@vision/shared/http/authenticate';
import { createTokenVerifier, TokenError } from '@vision/shared/http/service-token';
import { serviceKeyConfig } from '@vision/shared/service-keys';
import { testPublicKeys, testServiceKey, testToken } from '@vision/shared/testing/service-keys';
import { attemptLater } from '../properties.ts';
import type { FuzzTarget } from '../target.ts';

const publicKeys = serviceKeyConfig.SERVICE_PUBLIC_KEYS.parse(testPublicKeys);
const { key, kid } = serviceKeyConfig.SERVICE_KEY.parse(testServiceKey('tasks'));
const refusal = { by: TokenError };
const LIFETIME_S = 300;
const CLOCK_TOLERANCE_S = 30;

/**
 * Tokens between services. What a stranger writes is no token; neither is a good one with any change; and what a
 * service signs itself, in whatever words, makes it nobody else and lives no longer than five minutes.
 */
export const target: FuzzTarget = {
  maxBytes: 2048,
  check: async (input) => {
    const text = input.toString('latin1');
    await refuse(bearerToken(['Authorization', `Bearer ${text}`]) ?? text, 'a token that nobody signed');
    await refuseChanged(input);
    const [header, claims] = split(text);
    await checkSigned(craft(header, claims));
    const now = Math.floor(Date.now() / 1000);
    await checkSigned(
      craft(merged({ alg: 'EdDSA', typ: 'vision-call+jwt', kid }, header), merged(goodClaims(now), claims)),
    );
  },
};

const goodClaims = (now: number) => ({ sub: 'acme', iss: 'tasks', aud: 'quota', iat: now, exp: now + LIFETIME_S });

/** A verifier for each token, so that none is known from before. */
const verify = (token: string) =>
  attemptLater(async () => createTokenVerifier('quota', publicKeys).verify(token), refusal);

async function refuse(token: string, what: string): Promise<void> {
  assert.ok('refused' in (await verify(token)), what);
}

/** Header and claims: what stands before and behind the first NUL. */
function split(text: string): [string, string] {
  const [header = '', ...rest] = text.split('\0');
  return [header, rest.join('\0')];
}

/** The members of the JSON object in this text replace those of the good one; other text replaces all of it. */
function merged(good: object, text: string): string {
  if (text === '') return JSON.stringify(good);
  try {
    const parsed: unknown = JSON.parse(text);
    return JSON.stringify(typeof parsed === 'object' && parsed !== null ? { ...good, ...parsed } : parsed);
  } catch {
    return text;
  }
}

/** A token with the signature of tasks over these texts. */
function craft(header: string, claims: string): string {
  const signed = [header, claims].map((text) => Buffer.from(text, 'latin1').toString('base64url')).join('.');
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

async function checkSigned(token: string): Promise<void> {
  const outcome = await verify(token);
  if ('refused' in outcome) return;
  const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
  const { subject, issuer } = outcome.read;
  assert.deepEqual([issuer, payload['aud'], payload['sub']], ['tasks', 'quota', subject]);
  const [iat, exp] = [Number(payload['iat']), Number(payload['exp'])];
  const now = Date.now() / 1000;
  assert.ok(exp - iat <= LIFETIME_S && iat <= now + CLOCK_TOLERANCE_S + 1, 'a token that lives too long');
  assert.ok(exp > now - CLOCK_TOLERANCE_S - 1, 'a token that is over');
}

/** Three bytes of the input say which character of whose good token is put where. */
async function refuseChanged(input: Buffer): Promise<void> {
  if (input.length < 4) return;
  const issuer = callers[input.readUInt8(0) % callers.length] ?? 'tasks';
  const audience = callees[input.readUInt8(1) % callees.length] ?? 'quota';
  const issued = await testToken(issuer, audience, { subject: 'acme' });
  const outcome = await verify(issued);
  assert.equal('read' in outcome, audience === 'quota', 'a token for one service alone');
  const at = (input.readUInt8(2) * 256 + input.readUInt8(3)) % issued.length;
  const changed = issued.slice(0, at) + String.fromCharCode(input.readUInt8(0)) + issued.slice(at + 1);
  if (bytesOf(changed) !== bytesOf(issued)) await refuse(changed, 'a changed token');
}

/** What a token says; the last character of a part carries bits that no decoder reads. */
const bytesOf = (token: string) =>
  token
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('hex'))
    .join('.');
