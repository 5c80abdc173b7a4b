import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { checkBucket } from '../src/check-bucket.ts';
import type { StoreUse } from '../src/check-rights.ts';
import { startLyingS3 } from '../src/testing/lying-s3.ts';
import type { Lie, LyingS3 } from '../src/testing/lying-s3.ts';
import { testS3 } from '../src/testing/s3.ts';
import type { TestS3 } from '../src/testing/s3.ts';

let s3: TestS3;
let proxy: LyingS3;

beforeAll(async () => {
  s3 = await testS3();
  proxy = await startLyingS3(Number(new URL(s3.endpoint).port));
});
beforeEach(() => proxy.tell({ kind: 'none' }));
afterAll(async () => {
  await proxy.close();
  await s3.close();
});

const EVERYTHING: StoreUse[] = ['read', 'write', 'write_parts', 'list', 'remove'];

const check = (uses: StoreUse[], marks: string[] = []) =>
  checkBucket({ ...s3, endpoint: `http://127.0.0.1:${proxy.port}` }, uses, marks);

async function keys(): Promise<unknown[]> {
  const objects: unknown[] = [];
  for await (const object of s3.client.listObjectsV2(s3.bucket, '', true)) objects.push(object);
  for await (const upload of s3.client.listIncompleteUploads(s3.bucket, '', true)) objects.push(upload);
  return objects;
}

test('a store that allows everything passes, and keeps nothing of the check', async () => {
  expect(await check(EVERYTHING)).toBeUndefined();
  expect(await keys()).toEqual([]);
});

test('a process that only reads asks for an object, and writes none', async () => {
  proxy.tell({ kind: 'refuses', method: 'PUT' });
  expect(await check(['read'])).toBeUndefined();
  proxy.tell({ kind: 'refuses', method: 'GET', keys: '.vision-check/' });
  expect((await check(['read']))?.sentence).toMatch(/s3:GetObject/);
  expect(await keys()).toEqual([]);
});

const refusals: [StoreUse, string, Lie][] = [
  ['write', 's3:PutObject', { kind: 'refuses', method: 'PUT' }],
  ['write_parts', 's3:AbortMultipartUpload', { kind: 'refuses', method: 'GET', query: 'uploads' }],
  ['read', 's3:GetObject', { kind: 'refuses', method: 'GET', keys: '.vision-check/' }],
  ['list', 's3:ListBucket', { kind: 'refuses', method: 'GET', query: 'list-type' }],
  ['remove', 's3:DeleteObject', { kind: 'refuses', method: 'POST', query: 'delete' }],
];

test.each(refusals)('a process that may not %s says so at its start: %s', async (use, right, lie) => {
  proxy.tell(lie);
  const fault = await check(EVERYTHING);
  expect(fault?.kind).toBe('wrong');
  expect(fault?.sentence).toMatch(
    new RegExp(`refuses S3_ACCESS_KEY and S3_SECRET_KEY for the bucket S3_BUCKET=${s3.bucket}: it needs .*${right}`),
  );
  const others = EVERYTHING.filter((other) => other !== use);
  expect(await check(others)).toBeUndefined();
});

test.each<[string, Lie]>([
  ['s3:ListBucket', { kind: 'refuses', method: 'GET', query: '.vision-owner' }],
  ['s3:GetObject', { kind: 'refuses', method: 'GET', keys: '.vision-owner/videos/' }],
])('a process that may not read the marks of owners says so at its start: %s', async (right, lie) => {
  proxy.tell(lie);
  const fault = await check(EVERYTHING, ['pictures', 'videos']);
  expect(fault?.kind).toBe('wrong');
  expect(fault?.sentence).toMatch(new RegExp(`it needs ${right} below \\.vision-owner/(pictures|videos)/$`));
  expect(await check(EVERYTHING)).toBeUndefined();
  expect(await keys()).toEqual([]);
});

test('the check of the marks of owners leaves no key among them, as each would count as another database', async () => {
  expect(await check(EVERYTHING, ['videos'])).toBeUndefined();
  expect(await keys()).toEqual([]);
});
