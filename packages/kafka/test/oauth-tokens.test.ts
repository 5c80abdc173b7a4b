import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificates } from '@vision/shared/testing/made-certificates';
import type { MadeCertificates } from '@vision/shared/testing/made-certificates';
import { until } from '@vision/shared/testing/until';
import { fetchToken, TOKEN_MS } from '../src/oauth/fetch-token.ts';
import type { OauthClient } from '../src/oauth/fetch-token.ts';
import { loginFaultOf } from '../src/oauth/login-error.ts';
import { createTokenSource, MIN_LEFT_MS } from '../src/oauth/token-source.ts';
import { replyWith, startTokenServer, unsignedToken } from './support/token-server.ts';
import type { TokenServer } from './support/token-server.ts';

const dir = mkdtempSync(join(tmpdir(), 'vision-oauth-'));
const SECRET = 's:cr/t+%';

let certificates: MadeCertificates;
let server: TokenServer;
let client: OauthClient;

beforeAll(() => {
  certificates = makeCertificates(join(dir, 'certificates'));
});

afterEach(() => {
  server.stop();
});

beforeEach(async () => {
  server = await startTokenServer(certificates);
  client = { tokenUrl: server.url, clientId: 'vision', clientSecret: SECRET, caFile: certificates.ca };
});

afterAll(() => {
  rmSync(dir, { recursive: true });
});

/** A source lives on after its test, so it keeps to the server of its test. */
const sourceOf = (
  own: OauthClient,
  { lifeMs, minLeftMs = MIN_LEFT_MS }: { lifeMs?: number; minLeftMs?: number } = {},
) =>
  createTokenSource(
    async () => ({ ...(await fetchToken(own, TOKEN_MS)), ...(lifeMs !== undefined && { lifeMs }) }),
    minLeftMs,
  );

const good = (value = 'a.b-c') => replyWith(200, { access_token: value, token_type: 'Bearer', expires_in: 300 });

/** The message for operators when there is no token. */
async function faultOf(changed: Partial<OauthClient> = {}, limitMs = TOKEN_MS) {
  const error: unknown = await fetchToken({ ...client, ...changed }, limitMs).catch((reason: unknown) => reason);
  return loginFaultOf(error);
}

test('a token is asked for by client credentials, with the scope', async () => {
  server.answer = good();
  expect(await fetchToken({ ...client, scope: 'kafka read' }, TOKEN_MS)).toEqual({ value: 'a.b-c', lifeMs: 300_000 });
  const [request] = server.requests;
  expect(request?.form).toEqual({ grant_type: 'client_credentials', scope: 'kafka read' });
  const [id, secret] = Buffer.from(request?.authorization?.split(' ')[1] ?? '', 'base64')
    .toString()
    .split(':');
  expect([id, decodeURIComponent(secret ?? '')]).toEqual(['vision', SECRET]);
});

test('the life of a token comes from its own dates when the answer does not say it', async () => {
  server.answer = replyWith(200, { access_token: unsignedToken(120_000) });
  expect((await fetchToken(client, TOKEN_MS)).lifeMs).toBeCloseTo(120_000, -1);
});

test.each([
  ['no JSON', replyWith(200, '<html>'), 'answers without a usable JSON object'],
  ['no token', replyWith(200, { expires_in: 300 }), 'answers without a usable access_token'],
  ['a token with a line break', good('a\nb'), 'answers without a usable access_token'],
  [
    'another type',
    replyWith(200, { access_token: 'a', token_type: 'mac', expires_in: 300 }),
    'another type than bearer',
  ],
  ['no life', replyWith(200, { access_token: 'a' }), 'does not say how long its token lives (expires_in)'],
  [
    'an expired token',
    replyWith(200, { access_token: 'a', expires_in: -5 }),
    'a token of -5 s; at least 60 s are needed',
  ],
  ['a huge answer', replyWith(200, `{"access_token":"${'a'.repeat(70_000)}"}`), 'answers with more than 65536 bytes'],
  ['a redirect', replyWith(302, ''), 'redirects elsewhere (status 302), and redirects are not followed'],
  [
    'a refusal',
    replyWith(401, { error: 'invalid_client', error_description: `no ${SECRET}\nhere` }),
    'gives no token to KAFKA_OAUTH_CLIENT_ID=vision: status 401, invalid_client: no *** here',
  ],
])('%s is one sentence that says what is wrong', async (_name, answer, sentence) => {
  server.answer = answer;
  const fault = await faultOf();
  expect(fault).toMatchObject({ kind: 'wrong', sentence: expect.stringContaining(sentence) });
  expect(fault?.sentence).toContain('KAFKA_OAUTH_TOKEN_URL=https://127.0.0.1');
  expect(fault?.sentence).not.toContain(SECRET);
});

test('a server that is slow, fails or is down is unavailable', async () => {
  const named = `KAFKA_OAUTH_TOKEN_URL=${server.url}`;
  server.answer = replyWith(503, '');
  expect(await faultOf()).toEqual({ kind: 'away', sentence: `${named} answers with status 503` });
  server.answer = () => undefined;
  expect(await faultOf({}, 50)).toEqual({ kind: 'away', sentence: `${named} does not answer within 50 ms` });
  server.stop();
  expect(await faultOf()).toEqual({ kind: 'away', sentence: `${named} does not answer: ECONNREFUSED` });
});

test('a certificate that no authority vouches for names the file of authorities', async () => {
  expect(await faultOf({ caFile: undefined })).toMatchObject({
    kind: 'wrong',
    sentence: expect.stringContaining('KAFKA_OAUTH_CA_FILE has to hold its authority'),
  });
});

const quiet = () => undefined;

test('connections that open at once share one request', async () => {
  server.answer = good();
  const tokens = sourceOf(client);
  expect(await Promise.all([tokens.get(quiet), tokens.get(quiet), tokens.get(quiet)])).toEqual(
    Array.from({ length: 3 }, () => 'a.b-c'),
  );
  await tokens.get(quiet);
  expect(server.requests).toHaveLength(1);
});

test('while the server is unavailable the old token serves, the request is repeated and each failure is reported', async () => {
  server.answer = good('first');
  const told: string[] = [];
  const tokens = sourceOf(client, { lifeMs: 15_000, minLeftMs: 1_000 });
  expect(await tokens.get((message) => told.push(message))).toBe('first');
  server.answer = replyWith(503, '');
  await until(() => told.length > 0);
  expect(await tokens.get((message) => told.push(message))).toBe('first');
  await until(() => told.length > 1);
  expect(told[0]).toBe(`KAFKA_OAUTH_TOKEN_URL=${server.url} answers with status 503`);
  server.answer = good('second');
  await until(async () => (await tokens.get((message) => told.push(message))) === 'second');
  expect(told.at(-1)).toBe('the token server gives tokens again');
});

test('a token that cannot be renewed is not given out shortly before its end', async () => {
  server.answer = good();
  const tokens = sourceOf(client, { lifeMs: 10_000 });
  let leftMs: unknown;
  const tell = (_message: string, { tokenLeftMs }: Record<string, unknown>) => {
    leftMs ??= tokenLeftMs;
  };
  await tokens.get(tell);
  server.answer = replyWith(503, '');
  await until(() => leftMs !== undefined);
  await expect(tokens.get(tell)).rejects.toThrow(/status 503/);
  expect(leftMs).toBeGreaterThan(0);
});

test('without a token a failure holds for a moment, so that many connections are not as many requests', async () => {
  const tokens = sourceOf(client);
  for (let tries = 0; tries < 20; tries += 1) await expect(tokens.get(quiet)).rejects.toThrow(/status 503/);
  expect(server.requests.length).toBeLessThan(5);
});

test('a token that the brokers refused is not used again', async () => {
  server.answer = good('first');
  const tokens = sourceOf(client);
  tokens.discard(await tokens.get(quiet));
  server.answer = good('second');
  expect(await tokens.get(quiet)).toBe('second');
  tokens.discard('first');
  expect(await tokens.get(quiet)).toBe('second');
  expect(server.requests).toHaveLength(2);
});
