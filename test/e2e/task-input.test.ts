import { beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import { Caller, form, refusal, scene } from '../support/system.ts';
import { madeVideo, results, video } from '../support/video.ts';

const bad = (reason: string) => [400, 'OP-TASK-REQUEST-INVALID', reason];
let caller: Caller;
let stranger: Caller;
let taskId: string;

beforeAll(async () => {
  [caller, stranger] = await Promise.all([Caller.create({ video_tasks_per_day: 50 }), Caller.create()]);
  const bytes = await madeVideo('a.mp4', '-f', 'lavfi', '-i', 'testsrc2=d=1:s=320x240', '-c:v', 'libx264');
  const { body } = await caller.createUpload(form(video(bytes), scene('person_vehicle')));
  taskId = String(body['task_id']);
});

test.each<[string, unknown]>([
  ['missing', undefined],
  ['empty', ''],
  ['a number', 5],
  ['null', null],
  ['an array', ['rtsp://a/b']],
  ['ftp', 'ftp://example.com/a'],
  ['a file', 'file:///etc/passwd'],
  ['rtsp without a host', 'rtsp:///stream'],
  ['with a space', 'http://example.com/a b'],
  ['with a line feed', 'rtsp://example.com/a\r\nX: y'],
  ['with a NUL', 'rtsp://example.com/\u0000'],
  ['a private address', 'rtsp://10.0.0.1/a'],
  ['the metadata address', 'http://169.254.169.254/latest'],
  ['an integer as host', 'rtsp://2130706433/a'],
  ['a hexadecimal host', 'rtmp://0x7f000001/a'],
  ['a short IPv4', 'rtsp://127.1/a'],
  ['a mapped IPv6', 'rtsp://[::ffff:10.0.0.1]/a'],
  ['a backslash', 'http://evil\\@127.0.0.1/'],
  ['port 0', 'rtsp://example.com:0/a'],
])('stream_url that is %s is refused as stream_url_invalid', async (_name, url) => {
  const answer = await caller.createStream({ scene_code: 'person_vehicle', stream_url: url });
  expect(refusal(answer)).toEqual(bad('stream_url_invalid'));
});

test('a bad stream_url decides the reason even when other fields are wrong too', async () => {
  expect(refusal(await caller.createStream({ stream_url: 'nonsense', scene_code: 'nowhere', more: 1 }))).toEqual(
    bad('stream_url_invalid'),
  );
});

test('unknown fields and a missing scene are refused', async () => {
  const url = 'http://127.0.0.1:1/';
  expect(refusal(await caller.createStream({ stream_url: url, scene_code: 'ship', more: 1 }))).toEqual(
    bad('unknown_field'),
  );
  expect(refusal(await caller.createStream({ stream_url: url })).slice(0, 2)).toEqual([400, 'OP-TASK-REQUEST-INVALID']);
  expect(refusal(await caller.createStream({ stream_url: url, scene_code: 'helmet' })).slice(0, 2)).toEqual([
    400,
    'OP-TASK-SCENE-UNAVAILABLE',
  ]);
});

test.each<[string, (socket: Socket) => void]>([
  ['closes at once', (socket) => socket.destroy()],
  ['sends garbage', (socket) => socket.end('%%% garbage %%%\r\n\r\n')],
])('a peer that %s is stream_unreachable for every scheme', async (_name, behave) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    behave(socket);
  });
  const port = await listen(server);
  const urls = ['http', 'rtsp', 'rtmp'].map((scheme) => `${scheme}://127.0.0.1:${port}/live/a`);
  const answers = await Promise.all(urls.map((url) => caller.createStream({ scene_code: 'ship', stream_url: url })));
  expect(answers.map(refusal)).toEqual(urls.map(() => bad('stream_unreachable')));
  server.close();
});

test('a closed port, an HTML page, a missing page and a silent peer are stream_unreachable', async () => {
  const used = await caller.used('video');
  const web = createHttpServer((req, res) => {
    if (req.url === '/missing') res.writeHead(404).end('no');
    else res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><html></html>');
  });
  const silent = createServer((socket) => socket.on('error', () => undefined));
  const [webPort, silentPort] = await Promise.all([listen(web), listen(silent)]);
  const urls = [
    'http://127.0.0.1:1/',
    `http://127.0.0.1:${webPort}/`,
    `http://127.0.0.1:${webPort}/missing`,
    `rtsp://127.0.0.1:${silentPort}/a`,
  ];
  const answers = await Promise.all(urls.map((url) => caller.createStream({ scene_code: 'ship', stream_url: url })));
  expect(answers.map(refusal)).toEqual(urls.map(() => bad('stream_unreachable')));
  expect(await caller.used('video')).toBe(used);
  web.close();
  silent.close();
});

test.each([
  'limit=0',
  'limit=501',
  'limit=abc',
  'limit=1.5',
  'limit=',
  'min_score=-0.1',
  'min_score=1.1',
  'min_score=NaN',
  'min_score=',
  'cursor=garbage',
  'limit=1&limit=2',
])('results?%s is refused with 400', async (query) => {
  const answer = await caller.get(`/v1/vision/tasks/${taskId}/results?${query}`);
  expect(refusal(answer).slice(0, 2)).toEqual([400, 'OP-TASK-REQUEST-INVALID']);
});

test('a cursor of another task is refused', async () => {
  const bytes = await madeVideo('b.mp4', '-f', 'lavfi', '-i', 'testsrc=d=1:s=320x240', '-c:v', 'libx264');
  const other = await caller.createUpload(form(video(bytes), scene('person_vehicle')));
  const { resume_cursor: cursor } = await results(caller, String(other.body['task_id']));
  const answer = await caller.get(`/v1/vision/tasks/${taskId}/results?cursor=${cursor}`);
  expect(refusal(answer)).toEqual(bad('cursor_invalid'));
});

test("another key's task is 404 on every route, alike an id that never was", async () => {
  const never = '01920000-0000-7000-8000-000000000000';
  const strip = (text: string) => text.replaceAll(/"(instance|trace_id)":"[^"]*"/g, '');
  for (const [method, suffix] of [
    ['GET', ''],
    ['GET', '/results'],
    ['POST', '/stop'],
  ] as const) {
    const foreign = await stranger.send(method, `/v1/vision/tasks/${taskId}${suffix}`);
    const unknown = await stranger.send(method, `/v1/vision/tasks/${never}${suffix}`);
    expect([foreign.status, strip(foreign.text)]).toEqual([404, strip(unknown.text)]);
    expect(foreign.body).not.toHaveProperty('code');
  }
  expect((await caller.get('/v1/vision/tasks/not-a-uuid')).status).toBe(404);
});

test('the task history lists own tasks of both kinds, newest first, and nothing of others', async () => {
  const list = await caller.get('/v1/vision/tasks?limit=10');
  const items = list.body['items'] as { task_id: string; kind: string }[];
  expect(items.some(({ task_id, kind }) => task_id === taskId && kind === 'video')).toBe(true);
  expect((await stranger.get('/v1/vision/tasks')).body['items']).toEqual([]);
  for (const query of ['limit=0', 'status=nonsense', 'kind=audio', 'cursor=x']) {
    expect((await caller.get(`/v1/vision/tasks?${query}`)).status).toBe(400);
  }
});

test('a create without or with a malformed Idempotency-Key is refused', async () => {
  const body = JSON.stringify({ scene_code: 'ship', stream_url: 'http://127.0.0.1:1/' });
  const headers = { 'content-type': 'application/json' };
  expect(refusal(await caller.send('POST', '/v1/vision/tasks', { body, headers }))).toEqual(
    bad('idempotency_key_missing'),
  );
  expect(refusal(await caller.createStream(JSON.parse(body), `${randomUUID()}x`))).toEqual(
    bad('idempotency_key_invalid'),
  );
});

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}
