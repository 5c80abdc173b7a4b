import { beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Caller, example, form, problemOf, refusal, scene, system } from '../support/system.ts';
import { followAll, madeVideo, results, untilStatus, video } from '../support/video.ts';
import { watchDisagreements } from '../support/watch-agreement.ts';

const invalid = (reason: string) => [400, 'OP-TASK-REQUEST-INVALID', reason];
let caller: Caller;
let street: Buffer;

beforeAll(async () => {
  caller = await Caller.create({ video_tasks_per_day: 50 });
  street = await example('street.mp4');
});

test('an uploaded video is analysed to its end and every frame is read once, in order, with tracks', async () => {
  const key = randomUUID();
  const created = await caller.createUpload(form(video(street), scene('person_vehicle')), key);
  expect(created.status).toBe(201);
  expect(Object.keys(created.body).toSorted()).toEqual([
    'created_at',
    'request_id',
    'result_expires_at',
    'scene_code',
    'status',
    'task_id',
    'updated_at',
  ]);
  const taskId = String(created.body['task_id']);
  const frames = await followAll(caller, taskId);
  expect(await untilStatus(caller, taskId, 'succeeded', 'failed')).toBe('succeeded');

  expect(frames.length).toBeGreaterThan(10);
  const times = frames.map(({ frame_time_ms }) => frame_time_ms);
  expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b));
  expect(times[0]).toBeLessThan(250);
  expect(new Set(frames.map(({ frame_id }) => frame_id)).size).toBe(frames.length);
  expect(frames[0]?.frame_id).toBe(`${taskId}-0`);
  expect(frames[0]?.image).toEqual({ width: 768, height: 576 });
  const shown = frames.flatMap(({ objects }) => objects);
  expect(shown.length).toBeGreaterThan(20);
  expect(shown.every(({ score, track_id }) => score >= 0.8 && track_id !== '')).toBe(true);

  const low = await results(caller, taskId, '?min_score=0&limit=500');
  const all = low.items.flatMap(({ objects }) => objects);
  expect(all.length).toBeGreaterThan(shown.length);
  expect(low.items.every(({ objects, objects_total }) => objects_total === objects.length)).toBe(true);
  expect(low.items[0]).toHaveProperty('objects_total');
  const high = await results(caller, taskId, '?min_score=1&limit=500');
  expect(high.items.length).toBe(frames.length);
  expect(high.items.map(({ objects_total }) => objects_total)).toEqual(
    low.items.map(({ objects_total }) => objects_total),
  );

  expect(await watchDisagreements(caller, taskId)).toEqual([]);

  const replay = await caller.createUpload(form(scene('person_vehicle'), video(street, 'other-name.mov')), key);
  expect([replay.status, replay.body['task_id'], replay.body['status']]).toEqual([200, taskId, 'succeeded']);
  expect(replay.headers.get('idempotency-replayed')).toBe('true');
  expect(refusal(await caller.createUpload(form(scene('ship'), video(street)), key))).toEqual(
    invalid('idempotency_key_reused'),
  );
  expect(refusal(await caller.stop(taskId))).toEqual([409, 'OP-TASK-NOT-STOPPABLE', 'task_ended']);
});

test('a link to the video of a deleted task is dead at once', async () => {
  const created = await caller.createUpload(form(video(street), scene('person_vehicle')));
  const taskId = String(created.body['task_id']);
  const task = `/v1/vision/tasks/${taskId}`;
  const made = await caller.send('POST', '/v1/vision/links', {
    body: JSON.stringify({ path: `${task}/video`, expires_in_s: 3600 }),
    headers: { 'content-type': 'application/json' },
  });
  const open = async () => (await fetch(system.baseUrl + String(made.body['url']))).status;
  expect(await open()).toBe(200);
  expect(await untilStatus(caller, taskId, 'succeeded', 'failed')).toBe('succeeded');
  expect((await caller.send('DELETE', task)).status).toBe(202);
  expect(await open()).toBe(404);
});

test.each<[string, () => Promise<Buffer> | Buffer]>([
  ['text renamed to .mp4', () => Buffer.from('this is text, not a video')],
  ['an HLS playlist renamed to .mp4', () => Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n')],
  ['an empty file', () => Buffer.alloc(0)],
  ['a HEIC picture', () => Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic\0\0\0\0mif1heic')])],
  ['an AVI file', () => Buffer.from('RIFF\x10\0\0\0AVI LIST')],
])('%s is refused and nothing is charged', async (_name, bytes) => {
  const used = await caller.used('video');
  const answer = await caller.createUpload(form(video(await bytes()), scene('person_vehicle')));
  expect(refusal(answer).slice(0, 2)).toEqual([400, 'OP-TASK-REQUEST-INVALID']);
  expect(problemOf(answer).details.field).toBe('file');
  expect(await caller.used('video')).toBe(used);
});

test('an MP4 with sound only and one that is cut before its index are taken back and not charged', async () => {
  const audio = await madeVideo('audio.mp4', '-f', 'lavfi', '-i', 'sine=d=1', '-c:a', 'aac');
  const whole = await madeVideo('cut.mp4', '-f', 'lavfi', '-i', 'testsrc2=d=2:s=320x240', '-c:v', 'libx264');
  const used = await caller.used('video');
  for (const bytes of [audio, whole.subarray(0, whole.length - 3000)]) {
    const answer = await caller.createUpload(form(video(bytes), scene('person_vehicle')));
    expect([answer.status, answer.body['status']]).toEqual([201, 'refunded']);
  }
  expect(await caller.used('video')).toBe(used);
});

test('a MOV file is accepted', async () => {
  const mov = await madeVideo('short.mov', '-f', 'lavfi', '-i', 'testsrc2=d=1:s=320x240', '-c:v', 'libx264');
  const answer = await caller.createUpload(form(video(mov, 'short.mov'), scene('person_vehicle')));
  expect(answer.status).toBe(201);
  expect(await untilStatus(caller, String(answer.body['task_id']), 'succeeded', 'failed')).toBe('succeeded');
});

test.each<[string, FormData, string]>([
  ['no file', form(scene('ship')), 'file_missing'],
  ['no scene_code', form(video(Buffer.from('\0\0\0\x18ftypisom'))), 'scene_code_missing'],
])('%s is refused', async (_name, body, reason) => {
  expect(refusal(await caller.createUpload(body))).toEqual(invalid(reason));
});
