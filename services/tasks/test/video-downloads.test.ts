import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { defaultLimits } from '@vision/contracts/limits';
import { testToken } from '@vision/shared/testing/service-keys';
import { createWorld, startTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';
import { mp4, upload } from './support/videos.ts';

const SIZE = 6_000_000;
const video = mp4(SIZE, 7);
let world: World;
let tasks: TestTasks;
let taskId: string;
beforeAll(async () => {
  world = await createWorld();
  tasks = await startTasks(world);
  taskId = await uploaded(video);
});
afterAll(async () => {
  await tasks.stop();
  await world.close();
});

async function uploaded(file: Buffer): Promise<string> {
  const parts = [
    { name: 'scene_code', value: 'ship' },
    { name: 'file', file },
  ];
  return (await upload({ port: tasks.port, key: randomUUID(), parts })).body.task_id;
}

interface Asked {
  id?: string;
  method?: string;
  subject?: string;
  headers?: Record<string, string | string[]>;
}

/** The answer before its body is read. */
async function open({ id = taskId, method = 'GET', subject = 'subject-a', headers = {} }: Asked = {}) {
  const authorization = `Bearer ${await testToken('gateway', 'tasks', { subject, limits: defaultLimits })}`;
  return new Promise<IncomingMessage>((resolve, reject) => {
    const path = `/v1/vision/tasks/${id}/video`;
    const options = { port: tasks.port, path, method, agent: false, headers: { authorization, ...headers } };
    request(options, resolve).on('error', reject).end();
  });
}

async function get(asked: Asked = {}) {
  const answer = await open(asked);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return { status: answer.statusCode, headers: answer.headers, body };
}
const reasonOf = ({ body }: { body: Buffer }) =>
  (JSON.parse(body.toString()) as { details: { reason: string } }).details.reason;

test('returns the whole video with its type, size and tag', async () => {
  const { status, headers, body } = await get();
  expect([status, body.equals(video)]).toEqual([200, true]);
  expect(headers).toMatchObject({
    'content-type': 'video/mp4',
    'content-length': String(SIZE),
    'accept-ranges': 'bytes',
    etag: `"${taskId}"`,
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
  });
});

test.each([
  ['bytes=0-0', 0, 0],
  ['bytes=1000-4999999', 1000, 4_999_999],
  ['bytes=5999999-', SIZE - 1, SIZE - 1],
  ['bytes=5999990-99999999999', SIZE - 10, SIZE - 1],
  ['bytes=-10', SIZE - 10, SIZE - 1],
])('returns the range %s', async (range, first, last) => {
  const { status, headers, body } = await get({ headers: { range } });
  expect([status, headers['content-range']]).toEqual([206, `bytes ${first}-${last}/${SIZE}`]);
  expect(body.equals(video.subarray(first, last + 1))).toBe(true);
});

test.each<[string, string | string[]]>([
  ['several ranges', 'bytes=0-1,5-6'],
  ['a repeated header', ['bytes=0-1', 'bytes=5-6']],
  ['a reversed range', 'bytes=5-1'],
  ['another unit', 'seconds=0-1'],
  ['no range', 'bytes=a-b'],
])('returns the whole video for %s', async (_name, range) => {
  const { status, body } = await get({ headers: { range } });
  expect([status, body.length]).toEqual([200, SIZE]);
});

test.each(['bytes=6000000-', 'bytes=-0', 'bytes=99999999999999999999-'])(
  'refuses the range %s with 416',
  async (range) => {
    const answer = await get({ headers: { range } });
    expect([answer.status, reasonOf(answer)]).toEqual([416, 'range_not_satisfiable']);
    expect(answer.headers['content-range']).toBe(`bytes */${SIZE}`);
    expect(answer.headers['content-type']).toBe('application/problem+json');
  },
);

test('a range depends on If-Range, and a matching tag is answered with 304', async () => {
  const range = 'bytes=0-9';
  expect((await get({ headers: { range, 'if-range': `"${taskId}"` } })).status).toBe(206);
  expect((await get({ headers: { range, 'if-range': '"other"' } })).status).toBe(200);
  const known = await get({ headers: { 'if-none-match': `W/"${taskId}"` } });
  expect([known.status, known.body.length, known.headers.etag]).toEqual([304, 0, `"${taskId}"`]);
});

test('HEAD returns the headers of the whole video', async () => {
  const { status, headers, body } = await get({ method: 'HEAD', headers: { range: 'bytes=0-1' } });
  expect([status, headers['content-length'], body.length]).toEqual([200, String(SIZE), 0]);
});

test('a MOV file is returned with its type', async () => {
  const mov = Buffer.concat([Buffer.from('\0\0\0\x14ftypqt  \0\0\x02\0qt  ', 'latin1'), Buffer.alloc(1000)]);
  const answer = await get({ id: await uploaded(mov) });
  expect([answer.headers['content-type'], answer.body.equals(mov)]).toEqual(['video/quicktime', true]);
});

test('a stream has no video, and a task of another subject is not found', async () => {
  const stream = await tasks.create();
  const refused = await get({ id: stream.body.task_id });
  expect([refused.status, reasonOf(refused)]).toEqual([400, 'not_an_upload']);
  const foreign = await get({ subject: 'subject-b' });
  expect([foreign.status, reasonOf(foreign)]).toEqual([404, 'task_not_found']);
});

test('reports that a video is no longer stored', async () => {
  const id = await uploaded(mp4());
  await world.s3.client.removeObject(world.s3.bucket, await world.videoOf(id));
  const answer = await get({ id, headers: { range: 'bytes=0-1' } });
  expect([answer.status, reasonOf(answer)]).toEqual([404, 'video_not_found']);
  expect([answer.headers.etag, answer.headers['accept-ranges']]).toEqual([undefined, undefined]);
});

test('readers that disconnect during a video hold no connection to the store', async () => {
  for (let round = 0; round < 3; round += 1) {
    const held = await Promise.all(Array.from({ length: 16 }, () => open()));
    held.forEach((answer) => answer.destroy());
  }
  expect((await get()).body.equals(video)).toBe(true);
});
