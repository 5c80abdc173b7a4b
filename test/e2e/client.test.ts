import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { createVisionClient, VisionError } from '@vision/client';
import type { Problem, TaskStatus, Track, UploadProgress, VisionClient } from '@vision/client';
import { fencesOf } from '../../scripts/docs/guide.ts';
import { assertDocumented, Caller, example, system } from '../support/system.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const file = (bytes: Uint8Array, type: string, name: string) => new File([new Uint8Array(bytes)], name, { type });
let client: VisionClient;
let key: string;

beforeAll(async () => {
  ({ key } = await Caller.create());
  client = createVisionClient({ baseUrl: system.baseUrl, apiKey: key, fetch: documented });
});

/** Sends a request and compares its answer with the document that the types of the client were generated from. */
async function documented(request: Request): Promise<Response> {
  const { method, url } = request;
  const requestHeaders = Object.fromEntries(request.headers);
  const reply = await fetch(request);
  const { status, headers } = reply;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? '' : await reply.clone().text();
  if (!isStream) assertDocumented(url, { method, requestHeaders, status, headers, text });
  return reply;
}

const refusalOf = (call: Promise<unknown>): Promise<Problem> =>
  call.then(
    () => Promise.reject(new Error('not refused')),
    (error: unknown) => (error instanceof VisionError ? error.problem : Promise.reject(error as Error)),
  );

/** What a program does about a refusal. The compiler knows every code: a new one has to be thought about here. */
function adviceFor({ code, details, retryable }: Problem): string {
  if (code === undefined) return retryable ? 'retry later' : 'check the address';
  switch (code) {
    case 'OP-AUTH-REQUIRED':
      return 'check the key';
    case 'OP-TASK-REQUEST-INVALID':
      return details.field === undefined ? 'correct the request' : `correct ${details.field}`;
    case 'OP-TASK-SCENE-UNAVAILABLE':
      return `choose another scene than ${details.scene_code ?? 'this one'}`;
    case 'OP-TASK-NOT-STOPPABLE':
      return `nothing: the task is ${details.status ?? 'ended'}`;
    case 'OP-QUOTA-DAILY-EXHAUSTED':
      return `wait until ${details.resets_at ?? 'tomorrow'}`;
    case 'OP-QUOTA-RATE-LIMITED':
    case 'OP-TASK-UPSTREAM-DOWN':
    case 'OP-TASK-BREAKER-OPEN':
    case 'OP-SYS-UNAVAILABLE':
      return 'retry later';
  }
}

test('a client uploads a video with progress, follows its frames and tracks, and learns why it cannot stop it', async () => {
  const enabled = (await client.scenes()).filter((scene) => scene.enabled).map(({ scene_code }) => scene_code);
  expect(enabled).toContain('person_vehicle');
  const video = file(await example('street.mp4'), 'video/mp4', 'street.mp4');
  const progress: UploadProgress[] = [];
  const options = { scene_code: 'person_vehicle', onProgress: (one: UploadProgress) => progress.push(one) };
  const task = await client.uploadVideo(video, options);
  expect(progress.at(-1)?.sentBytes).toBeGreaterThan(video.size);
  let people = 0;
  let last = -1;
  for await (const { frame_time_ms, objects } of client.frames(task.task_id, { min_score: 0.5 })) {
    expect(frame_time_ms).toBeGreaterThan(last);
    last = frame_time_ms;
    people += objects.filter(({ label, track_id }) => label === 'person' && track_id !== '').length;
  }
  expect(people).toBeGreaterThan(20);
  const tracks: Track[] = [];
  for await (const track of client.tracks(task.task_id, { order: 'oldest', labels: 'person' })) tracks.push(track);
  expect(tracks.length).toBeGreaterThan(3);
  const ended: TaskStatus = (await client.waitFor(task)).status;
  expect(ended).toBe('succeeded');
  expect((await client.usage()).video.used).toBe(1);
  expect(adviceFor(await refusalOf(client.stop(task.task_id)))).toBe('nothing: the task is succeeded');
});

test('it tells images that succeeded from those that failed, and one refusal from another', async () => {
  const street = await example('street.jpg');
  const files = [file(street, 'image/jpeg', 'a.jpg'), file(street.subarray(0, 2000), '', 'cut.jpg')];
  files.push(...(await Promise.all(['png', 'webp'].map(async (end) => file(await example(`street.${end}`), '', 'a')))));
  const { results } = await client.detect(files, { scene_code: 'person_vehicle' });
  const outcomes = results.map((image) => (image.status === 'succeeded' ? image.objects.length > 0 : image.error_code));
  expect(outcomes).toEqual([true, 'OP-TASK-REQUEST-INVALID', true, true]);
  expect(adviceFor(await refusalOf(client.detect([])))).toBe('correct files');
  const unknown = client.watchStream({ scene_code: 'ship', stream_url: 'ftp://camera.example.org' });
  expect(adviceFor(await refusalOf(unknown))).toBe('correct stream_url');
});

test('a repeat under the key of an earlier call returns its task', async () => {
  const video = file(await example('street.mp4'), 'video/mp4', 'street.mp4');
  const options = { scene_code: 'person_vehicle', idempotencyKey: crypto.randomUUID() };
  const [first, second] = [await client.uploadVideo(video, options), await client.uploadVideo(video, options)];
  expect(second.task_id).toBe(first.task_id);
});

test('the types know every state and every field, and nothing else', async () => {
  // @ts-expect-error there is no such state
  const status: TaskStatus = 'done';
  // @ts-expect-error a stream needs an address
  const incomplete = client.watchStream({ scene_code: 'ship' });
  expect([status, (await refusalOf(incomplete)).details.field]).toEqual(['done', 'stream_url']);
});

test('the first program of README has twelve lines at most, and prints frames, tracks and the end', async () => {
  const program = fencesOf(await readFile(join(root, 'README.md'), 'utf8')).find(({ language }) => language === 'js');
  const lines = program?.text
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  expect(lines?.length).toBeLessThanOrEqual(12);
  const args = ['--conditions=@vision/source', '--input-type=module', '-e', program?.text ?? ''];
  const env = { PATH: process.env['PATH'] ?? '', BASE_URL: system.baseUrl, API_KEY: key };
  const { stdout } = await run(process.execPath, args, { cwd: root, env });
  expect(stdout).toMatch(/^\d+ person a?\S+/m);
  expect(stdout).toMatch(/^person from \d+ to \d+ ms$/m);
  expect(stdout).toMatch(/succeeded\n$/);
});
