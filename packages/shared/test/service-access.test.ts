import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { createApp } from '../src/http/app.ts';
import { route } from '../src/http/route.ts';
import { createHttpServer } from '../src/http/server.ts';
import { createServiceAccess } from '../src/http/service-access.ts';
import { createLogger } from '../src/logger.ts';
import { serviceKeyConfig } from '../src/service-keys.ts';
import { testPublicKeys, testServiceKey, testToken } from '../src/testing/service-keys.ts';

const lines: Record<string, unknown>[] = [];
const logger = createLogger('test', 'info', {
  write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
});
const answer = { 200: { description: 'Done', schema: z.object({ subject: z.string() }) } };
/** An operation of the quota service, which tasks and images may ask for. */
const reserve = route(
  { operation: 'reserve', method: 'get', path: '/reserve', summary: '-', audience: 'internal', responses: answer },
  async ({ caller }) => ({ status: 200, body: { subject: caller.subject } }),
);
const unlisted = route(
  { operation: 'unlisted', method: 'get', path: '/unlisted', summary: '-', audience: 'internal', responses: answer },
  async () => ({ status: 200, body: { subject: 'nobody' } }),
);
const publicKeys = serviceKeyConfig.SERVICE_PUBLIC_KEYS.parse(testPublicKeys);
const { authenticate, authorize } = createServiceAccess({ callee: 'quota', publicKeys, logger });
const app = createApp({ routes: [reserve, unlisted], authenticate, authorize, logger });
const server = createHttpServer(app, { host: '127.0.0.1', port: 0 });
let base = '';
beforeAll(async () => {
  base = `http://127.0.0.1:${await server.start()}`;
});
afterAll(() => server.stop(100));
beforeEach(() => {
  lines.length = 0;
});

const ask = (path: string, token?: string) =>
  fetch(base + path, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
const reasonOf = async (reply: Response) => ((await reply.json()) as { details: { reason: string } }).details.reason;

type Json = Record<string, unknown>;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const tasksKey = serviceKeyConfig.SERVICE_KEY.parse(testServiceKey('tasks'));
const imagesKey = serviceKeyConfig.SERVICE_KEY.parse(testServiceKey('images'));
const publicOf = (service: string) => publicKeys.find((key) => key.service === service)?.key as KeyObject;
const now = () => Math.floor(Date.now() / 1000);
const goodHeader = { alg: 'EdDSA', typ: 'vision-call+jwt', kid: tasksKey.kid };
const goodClaims = (iat = now()) => ({ sub: 'acme', iss: 'tasks', aud: 'quota', iat, exp: iat + 300 });

/** A token with any header, claims and signature. */
function craft(header: Json, claims: Json, signWith: (input: Buffer) => Buffer): string {
  const input = `${encode({ ...goodHeader, ...header })}.${encode({ ...goodClaims(), ...claims })}`;
  return `${input}.${signWith(Buffer.from(input)).toString('base64url')}`;
}
const byTasks = (input: Buffer) => sign(null, input, tasksKey.key);
const byImages = (input: Buffer) => sign(null, input, imagesKey.key);
const stranger = generateKeyPairSync('ed25519');
const byStranger = (input: Buffer) => sign(null, input, stranger.privateKey);
const unsigned = () => Buffer.alloc(0);
const hmacWith = (secret: string | Buffer) => (input: Buffer) => createHmac('sha256', secret).update(input).digest();
const pem = () => publicOf('tasks').export({ format: 'pem', type: 'spki' });
const raw = () => Buffer.from(String(publicOf('tasks').export({ format: 'jwk' }).x), 'base64url');

test('a token made by hand with the right key is good, so the refusals below are for what they name', async () => {
  const reply = await ask('/reserve', craft({}, {}, byTasks));
  expect([reply.status, await reply.json()]).toEqual([200, { subject: 'acme' }]);
});

test('a token may claim five minutes, and not a second more', async () => {
  const iat = now();
  expect((await ask('/reserve', craft({}, { iat, exp: iat + 300 }, byTasks))).status).toBe(200);
  expect((await ask('/reserve', craft({}, { iat, exp: iat + 301 }, byTasks))).status).toBe(401);
});

test.each<[string, string, () => string]>([
  ['an empty signature and alg none', 'algorithm', () => craft({ alg: 'none' }, {}, unsigned)],
  ['alg NONE in another case', 'algorithm', () => craft({ alg: 'nOnE' }, {}, unsigned)],
  ['no alg', 'malformed', () => craft({ alg: undefined }, {}, byTasks)],
  ['HS256 keyed with the public key as PEM', 'algorithm', () => craft({ alg: 'HS256' }, {}, hmacWith(String(pem())))],
  ['HS256 keyed with the public key as bytes', 'algorithm', () => craft({ alg: 'HS256' }, {}, hmacWith(raw()))],
  ['HS256 keyed with nothing', 'algorithm', () => craft({ alg: 'HS256' }, {}, hmacWith(''))],
  ['EdDSA over an HMAC', 'signature', () => craft({}, {}, hmacWith(raw()))],
  ['the key of another service in its own name', 'claims', () => craft({ kid: imagesKey.kid }, {}, byImages)],
  ['the key of another service under a borrowed kid', 'signature', () => craft({}, {}, byImages)],
  ['the key of a stranger under a borrowed kid', 'signature', () => craft({}, {}, byStranger)],
  [
    'a key that it brings along',
    'signature',
    () => craft({ jwk: stranger.publicKey.export({ format: 'jwk' }) }, {}, byStranger),
  ],
  [
    'an address of its key',
    'key_unknown',
    () => craft({ kid: 'mine', jku: 'http://127.0.0.1:1/jwks' }, {}, byStranger),
  ],
  ['no kid', 'key_unknown', () => craft({ kid: undefined }, {}, byTasks)],
  ['an empty kid', 'key_unknown', () => craft({ kid: '' }, {}, byTasks)],
  ['a kid that every object has', 'key_unknown', () => craft({ kid: '__proto__' }, {}, byStranger)],
  ['a kid that is a path', 'key_unknown', () => craft({ kid: '../../../dev/null' }, {}, hmacWith(''))],
  ['a kid that is a list', 'key_unknown', () => craft({ kid: [tasksKey.kid] }, {}, byTasks)],
  ['a kid that is an object', 'key_unknown', () => craft({ kid: { toString: tasksKey.kid } }, {}, byTasks)],
  ['another type', 'claims', () => craft({ typ: 'JWT' }, {}, byTasks)],
  ['no type', 'claims', () => craft({ typ: undefined }, {}, byTasks)],
  ['an extension nobody understands', 'malformed', () => craft({ crit: ['b64'], b64: false }, {}, byTasks)],
  ['another audience', 'audience', () => craft({}, { aud: 'results' }, byTasks)],
  ['this and another audience', 'audience', () => craft({}, { aud: ['quota', 'results'] }, byTasks)],
  ['no audience', 'audience', () => craft({}, { aud: undefined }, byTasks)],
  ['an issuer that does not exist', 'claims', () => craft({}, { iss: 'billing' }, byTasks)],
  ['an issuer that calls nobody', 'claims', () => craft({}, { iss: 'quota' }, byTasks)],
  ['no issuer', 'claims', () => craft({}, { iss: undefined }, byTasks)],
  ['no subject', 'claims', () => craft({}, { sub: undefined }, byTasks)],
  ['an empty subject', 'claims', () => craft({}, { sub: '' }, byTasks)],
  ['an end that is over', 'expired', () => craft({}, { iat: now() - 200, exp: now() - 40 }, byTasks)],
  ['a begin that is too long ago', 'expired', () => craft({}, { iat: now() - 400, exp: now() + 60 }, byTasks)],
  ['a begin in the future', 'not_yet', () => craft({}, { iat: now() + 60, exp: now() + 300 }, byTasks)],
  ['a life of an hour', 'claims', () => craft({}, { exp: now() + 3600 }, byTasks)],
  ['ten years of life', 'claims', () => craft({}, { exp: now() + 315_360_000 }, byTasks)],
  ['no end', 'claims', () => craft({}, { exp: undefined }, byTasks)],
  ['no begin', 'not_yet', () => craft({}, { iat: undefined }, byTasks)],
  ['an end in words', 'claims', () => craft({}, { exp: 'tomorrow' }, byTasks)],
  ['two parts', 'malformed', () => craft({}, {}, byTasks).split('.').slice(0, 2).join('.')],
  ['four parts', 'malformed', () => `${craft({}, {}, byTasks)}.x`],
  ['no JSON in it', 'malformed', () => 'a.b.c'],
])('a token with %s is refused, and the log says %s', async (_what, fault, make) => {
  const token = make();
  const reply = await ask('/reserve', token);
  expect([reply.status, await reasonOf(reply)]).toEqual([401, 'service_token_invalid']);
  expect(lines[0]).toMatchObject({ level: 'warn', reason: fault, msg: 'a token between services was refused' });
  expect(JSON.stringify(lines)).not.toContain(token);
});

test.each(['', '?access_token=', '?token=', '?authorization=Bearer%20'])(
  'a call without the header is refused, also when it sends %j',
  async (query) => {
    const token = query === '' ? '' : await testToken('tasks', 'quota', { subject: 'acme' });
    const reply = await ask(`/reserve${query}${token}`);
    expect([reply.status, await reasonOf(reply)]).toEqual([401, 'service_token_missing']);
    expect(lines[0]).toMatchObject({ reason: 'missing' });
  },
);

test('two Authorization headers prove nothing', async () => {
  const token = await testToken('tasks', 'quota', { subject: 'acme' });
  const { request } = await import('node:http');
  const status = await new Promise((resolve, reject) => {
    const headers = ['Host', 'quota', 'Authorization', `Bearer ${token}`, 'Authorization', `Bearer ${token}`];
    request(`${base}/reserve`, { headers }, (reply) => resolve(reply.resume().statusCode))
      .on('error', reject)
      .end();
  });
  expect(status).toBe(401);
});

test('a service gets no further than where it may call, and the log names it and the operation', async () => {
  const allowed = await ask('/reserve', await testToken('images', 'quota', { subject: 'acme' }));
  const wrongCaller = await ask('/reserve', await testToken('gateway', 'quota', { subject: 'acme' }));
  const wrongOperation = await ask('/unlisted', await testToken('tasks', 'quota', { subject: 'acme' }));
  expect([allowed.status, wrongCaller.status, wrongOperation.status]).toEqual([200, 403, 403]);
  expect(await reasonOf(wrongCaller)).toBe('call_not_allowed');
  const errors = lines.filter(({ level }) => level === 'error');
  expect(errors).toMatchObject([
    { caller: 'gateway', operation: 'reserve', msg: 'service call forbidden' },
    { caller: 'tasks', operation: 'unlisted', msg: 'service call forbidden' },
  ]);
});

test('known services alone learn what does not exist', async () => {
  expect((await ask('/nowhere')).status).toBe(401);
  expect((await ask('/nowhere', await testToken('tasks', 'quota', { subject: 'acme' }))).status).toBe(404);
});
