import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { loadConfig } from '@vision/shared/config';
import { checkBucket } from '../src/check-bucket.ts';
import { objectStoreConfig, objectStoreOptions } from '../src/object-store-config.ts';
import { createObjectStore } from '../src/object-store.ts';
import { testS3 } from '../src/testing/s3.ts';
import type { TestS3 } from '../src/testing/s3.ts';
import { addressOf, startSessionS3 } from './support/session-s3.ts';
import type { SessionS3 } from './support/session-s3.ts';

const dir = mkdtempSync(join(tmpdir(), 'vision-agent-'));
const tokenFile = join(dir, 'eks-pod-identity-token');

let s3: TestS3;
let store: SessionS3;
/** Gives the pods of its node keys. */
let agent: Server;
let tokens: (string | undefined)[] = [];
let answer: { lifeMs: number; status: number; body: string | undefined };

beforeAll(async () => {
  s3 = await testS3();
  store = await startSessionS3(s3);
  agent = createServer((req, res) => {
    tokens.push(req.headers.authorization);
    res.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.body ?? newSession());
  });
  await new Promise<void>((done) => agent.listen(0, '127.0.0.1', done));
});

afterEach(() => {
  jest.restoreAllMocks();
});

afterAll(async () => {
  store.stop();
  agent.close();
  await s3.close();
  rmSync(dir, { recursive: true });
});

beforeEach(() => {
  store.seen.length = 0;
  tokens = [];
  answer = { lifeMs: 900_000, status: 200, body: undefined };
  writeFileSync(tokenFile, 'token-of-the-pod\n');
});

/** From now on the clock of this process is ahead by so much. */
function clockIsAhead(ms: number): void {
  const { now } = Date;
  jest.spyOn(Date, 'now').mockImplementation(() => now() + ms);
}

function newSession(): string {
  const name = String(tokens.length);
  const keys = { accessKey: `ASIA${name}`, secretKey: `secret-${name}`, sessionToken: `session-${name}` };
  store.sessions.clear();
  store.sessions.set(keys.accessKey, keys);
  return JSON.stringify({
    AccessKeyId: keys.accessKey,
    SecretAccessKey: keys.secretKey,
    Token: keys.sessionToken,
    AccountId: '1',
    Expiration: new Date(Date.now() + answer.lifeMs).toISOString(),
  });
}

const read = (env: Record<string, string>) =>
  objectStoreOptions(
    loadConfig(z.object(objectStoreConfig), {
      S3_ENDPOINT: store.endpoint,
      S3_REGION: s3.region,
      S3_BUCKET: s3.bucket,
      ...env,
    }),
  );

const options = () =>
  read({
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${addressOf(agent)}/v1/credentials`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile,
  });

test('a pod stores images with the keys that the agent of its node gives, and asks for them once', async () => {
  const images = createObjectStore(options());
  await Promise.all(
    ['a', 'b', 'c'].map((key) => images.put({ key, body: Buffer.from(key), contentType: 'text/plain' })),
  );
  images.close();
  expect((await s3.objects()).toSorted()).toEqual(['a', 'b', 'c']);
  expect(tokens).toEqual(['token-of-the-pod']);
  expect(new Set(store.seen)).toEqual(new Set(['session-1']));
});

test('keys are renewed before they end, with the token that the file holds then', async () => {
  const images = createObjectStore(options());
  await images.stat('a');
  writeFileSync(tokenFile, 'the-next-token');
  clockIsAhead(0.8 * answer.lifeMs);
  await images.stat('a');
  images.close();
  expect(tokens).toHaveLength(2);
  expect(tokens[1]).toBe('the-next-token');
  expect(store.seen).toContain('session-2');
});

test('a refusal, an answer without keys and a missing token are one sentence each', async () => {
  const named = `AWS_CONTAINER_CREDENTIALS_FULL_URI=${addressOf(agent)}/v1/credentials`;
  const wrong = (sentence: string) => ({ kind: 'wrong', sentence });
  answer.status = 403;
  answer.body = JSON.stringify({ code: 'AccessDeniedException', message: 'no association' });
  expect(await checkBucket(options())).toEqual(
    wrong(`${named} gives no keys to this service account: AccessDeniedException: no association`),
  );
  answer.status = 200;
  answer.body = '<html>';
  expect(await checkBucket(options())).toEqual(wrong(`${named} answers without keys`));
  rmSync(tokenFile);
  expect(await checkBucket(options())).toEqual(
    wrong(`AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: ${tokenFile} cannot be read (ENOENT)`),
  );
});

test('an agent that is down, busy or broken is unavailable', async () => {
  const named = `AWS_CONTAINER_CREDENTIALS_FULL_URI=${addressOf(agent)}/v1/credentials`;
  for (const status of [429, 500, 503]) {
    answer.status = status;
    expect(await checkBucket(options())).toEqual({ kind: 'away', sentence: `${named} answers with status ${status}` });
  }
  const down = { ...options(), identity: { credentialsUrl: 'http://127.0.0.1:1/', authorizationFile: tokenFile } };
  expect(await checkBucket(down)).toEqual({
    kind: 'away',
    sentence: 'AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1:1/ does not answer: ECONNREFUSED',
  });
});

test('the token of a pod is sent in the clear to agents only', () => {
  const at = (url: string) =>
    read({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile }).identity;
  for (const url of ['http://169.254.170.23/v1/credentials', 'http://[fd00:ec2::23]/v1/credentials', 'https://a/keys'])
    expect(at(url)).toEqual({ credentialsUrl: url, authorizationFile: tokenFile });
  for (const url of ['http://169.254.169.254/keys', 'http://169.254.170.23.example/', 'keys'])
    expect(() => at(url)).toThrow(/AWS_CONTAINER_CREDENTIALS_FULL_URI: /);
  expect(() => read({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'https://a' })).toThrow(/AUTHORIZATION_TOKEN_FILE/);
});
