import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { loadConfig } from '@vision/shared/config';
import { checkBucket } from '../src/check-bucket.ts';
import { objectStoreConfig, objectStoreOptions } from '../src/object-store-config.ts';
import { createObjectStore } from '../src/object-store.ts';
import { testS3 } from '../src/testing/s3.ts';
import type { TestS3 } from '../src/testing/s3.ts';
import { addressOf, startSessionS3 } from './support/session-s3.ts';
import type { SessionS3 } from './support/session-s3.ts';

const dir = mkdtempSync(join(tmpdir(), 'vision-identity-'));
const tokenFile = join(dir, 'token');

let s3: TestS3;
let store: SessionS3;
/** Exchanges tokens of pods for keys of a session. */
let sts: Server;
let asked: URLSearchParams[] = [];
let answer: { lifeMs: number; refuses: boolean; status: number };

beforeAll(async () => {
  s3 = await testS3();
  store = await startSessionS3(s3);
  sts = createServer((req, res) => {
    void buffer(req).then((body) => {
      asked.push(new URLSearchParams(body.toString()));
      res.writeHead(answer.refuses ? answer.status : 200, { 'Content-Type': 'text/xml' });
      res.end(answer.refuses ? REFUSAL : newSession());
    });
  });
  await new Promise<void>((done) => sts.listen(0, '127.0.0.1', done));
});

afterEach(() => {
  jest.restoreAllMocks();
});

afterAll(async () => {
  store.stop();
  sts.close();
  await s3.close();
  rmSync(dir, { recursive: true });
});

beforeEach(() => {
  store.seen.length = 0;
  asked = [];
  answer = { lifeMs: 900_000, refuses: false, status: 403 };
  writeFileSync(tokenFile, 'token-of-the-pod\n');
});

/** From now on the clock of this process is ahead by so much. */
function clockIsAhead(ms: number): void {
  const { now } = Date;
  jest.spyOn(Date, 'now').mockImplementation(() => now() + ms);
}

const REFUSAL =
  '<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity' +
  '</Message></Error></ErrorResponse>';

function newSession(): string {
  const name = String(asked.length);
  const keys = { accessKey: `ASIA${name}`, secretKey: `secret-${name}`, sessionToken: `session-${name}` };
  store.sessions.clear();
  store.sessions.set(keys.accessKey, keys);
  return `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
  <AccessKeyId>${keys.accessKey}</AccessKeyId><SecretAccessKey>${keys.secretKey}</SecretAccessKey>
  <SessionToken>${keys.sessionToken}</SessionToken>
  <Expiration>${new Date(Date.now() + answer.lifeMs).toISOString()}</Expiration>
  </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
}

const options = () =>
  objectStoreOptions(
    loadConfig(z.object(objectStoreConfig), {
      S3_ENDPOINT: store.endpoint,
      S3_REGION: s3.region,
      S3_BUCKET: s3.bucket,
      S3_STS_ENDPOINT: addressOf(sts),
      AWS_ROLE_ARN: 'arn:aws:iam::1:role/vision',
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
    }),
  );

test('a pod stores images with the keys that it gets for its token, and asks for them once', async () => {
  const pictures = createObjectStore(options());
  await Promise.all(
    ['a', 'b', 'c'].map((key) => pictures.put({ key, body: Buffer.from(key), contentType: 'text/plain' })),
  );
  await pictures.put({ key: 'd', body: Readable.from([Buffer.alloc(100)]), contentType: 'text/plain' });
  pictures.close();
  expect((await s3.objects()).toSorted()).toEqual(['a', 'b', 'c', 'd']);
  expect(asked.map((form) => Object.fromEntries(form))).toEqual([
    {
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: 'arn:aws:iam::1:role/vision',
      RoleSessionName: expect.any(String),
      WebIdentityToken: 'token-of-the-pod',
    },
  ]);
  expect(new Set(store.seen)).toEqual(new Set(['session-1']));
});

test('keys are renewed before they end, with the token that the file holds then', async () => {
  const pictures = createObjectStore(options());
  await pictures.stat('a');
  writeFileSync(tokenFile, 'the-next-token');
  clockIsAhead(0.8 * answer.lifeMs);
  await pictures.stat('a');
  pictures.close();
  expect(asked).toHaveLength(2);
  expect(asked[1]?.get('WebIdentityToken')).toBe('the-next-token');
  expect(store.seen).toContain('session-2');
});

test('while keys cannot be renewed the old ones serve until they end', async () => {
  const pictures = createObjectStore(options());
  await pictures.stat('a');
  answer.refuses = true;
  clockIsAhead(0.8 * answer.lifeMs);
  await pictures.stat('a');
  await pictures.stat('a');
  pictures.close();
  expect(asked).toHaveLength(2);
  expect(new Set(store.seen)).toEqual(new Set(['session-1']));
});

test('a refusal, a missing token and a bucket that is not there are one sentence each', async () => {
  expect(await checkBucket(options())).toBeUndefined();
  expect(await checkBucket({ ...options(), bucket: 'absent' })).toEqual({
    kind: 'wrong',
    sentence: `There is no bucket S3_BUCKET=absent at S3_ENDPOINT=${store.endpoint}`,
  });
  answer.refuses = true;
  const sentence = expect.stringMatching(
    /\(S3_STS_ENDPOINT\) gives no keys for AWS_ROLE_ARN=arn:aws:iam::1:role\/vision: AccessDenied: Not authorized/,
  );
  expect(await checkBucket(options())).toEqual({ kind: 'wrong', sentence });
  answer.status = 503;
  expect(await checkBucket(options())).toEqual({ kind: 'away', sentence });
  rmSync(tokenFile);
  expect((await checkBucket(options()))?.sentence).toBe(
    `AWS_WEB_IDENTITY_TOKEN_FILE: ${tokenFile} cannot be read (ENOENT)`,
  );
});

test('wrong keys and an address where nothing answers name their settings', async () => {
  const fixed = { ...options(), identity: undefined, endpoint: s3.endpoint, secretKey: 'wrong-secret' };
  fixed.accessKey = s3.accessKey;
  const refused = await checkBucket(fixed);
  expect(refused).toMatchObject({
    kind: 'wrong',
    sentence: expect.stringContaining('S3_ACCESS_KEY and S3_SECRET_KEY'),
  });
  expect(refused?.sentence).not.toContain('wrong-secret');
  expect(await checkBucket({ ...fixed, endpoint: 'http://127.0.0.1:1' })).toEqual({
    kind: 'away',
    sentence: 'S3_ENDPOINT=http://127.0.0.1:1 does not answer: ECONNREFUSED',
  });
});

test('half of what proves who we are is refused', () => {
  const read = (env: Record<string, string>) =>
    objectStoreOptions(loadConfig(z.object(objectStoreConfig), { S3_ENDPOINT: 'http://s3', ...env }));
  expect(() => read({})).toThrow(/S3_ACCESS_KEY and S3_SECRET_KEY are missing/);
  expect(() => read({ S3_ACCESS_KEY: 'a' })).toThrow(/needed together/);
  expect(() => read({ AWS_ROLE_ARN: 'a' })).toThrow(/AWS_WEB_IDENTITY_TOKEN_FILE/);
});
