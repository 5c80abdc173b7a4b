import { beforeAll, expect, test } from '@jest/globals';
import { adviceFor, createVisionClient, RefusedError } from '../client/vision-client.ts';
import type { Problem, TaskStatus, VisionClient } from '../client/vision-client.ts';
import { assertDocumented, Caller, example, system } from '../support/system.ts';

const file = (bytes: Uint8Array, type: string, name: string) => new File([new Uint8Array(bytes)], name, { type });
let client: VisionClient;

beforeAll(async () => {
  const { key } = await Caller.create();
  client = createVisionClient({ baseUrl: system.baseUrl, apiKey: key, fetch: documented });
});

/** Sends a request and compares its answer with the document that the client was generated from. */
async function documented(request: Request): Promise<Response> {
  const { method, url } = request;
  const requestHeaders = Object.fromEntries(request.headers);
  const reply = await fetch(request);
  const { status, headers } = reply;
  assertDocumented(url, { method, requestHeaders, status, headers, text: await reply.clone().text() });
  return reply;
}

const refusalOf = (call: Promise<unknown>): Promise<Problem> =>
  call.then(
    () => Promise.reject(new Error('not refused')),
    (error: unknown) => (error instanceof RefusedError ? error.problem : Promise.reject(error as Error)),
  );

test('a client made from the document uploads a video, follows its frames, and is told why it cannot stop it', async () => {
  expect(await client.enabledScenes()).toContain('person_vehicle');
  const video = file(await example('street.mp4'), 'video/mp4', 'street.mp4');
  const { task_id: taskId } = await client.uploadVideo({ scene_code: 'person_vehicle', file: video });
  let people = 0;
  let last = -1;
  for await (const { frame_time_ms, objects } of client.frames(taskId, 0.5)) {
    expect(frame_time_ms).toBeGreaterThan(last);
    last = frame_time_ms;
    people += objects.filter(({ label, track_id }) => label === 'person' && track_id !== '').length;
  }
  expect(people).toBeGreaterThan(20);
  const ended: TaskStatus = (await client.task(taskId)).status;
  expect(ended).toBe('succeeded');
  expect(adviceFor(await refusalOf(client.stop(taskId)))).toBe('nothing: the task is succeeded');
});

test('it tells pictures that succeeded from those that failed, and one refusal from another', async () => {
  const street = await example('street.jpg');
  const files = [file(street, 'image/jpeg', 'a.jpg'), file(street.subarray(0, 2000), 'image/jpeg', 'cut.jpg')];
  const { results } = await client.detect({ scene_code: 'person_vehicle', files });
  const told = results.map((image) => (image.status === 'succeeded' ? image.objects.length > 0 : image.error_code));
  expect(told).toEqual([true, 'OP-TASK-REQUEST-INVALID']);
  expect(adviceFor(await refusalOf(client.detect({ files: [] })))).toBe('mend files');
  const unknown = client.watchStream({ scene_code: 'ship', stream_url: 'ftp://camera.example.org' });
  expect(adviceFor(await refusalOf(unknown))).toBe('mend stream_url');
});

test('the types know every state and every field, and nothing else', async () => {
  // @ts-expect-error there is no such state
  const status: TaskStatus = 'done';
  // @ts-expect-error a stream needs an address
  const incomplete = client.watchStream({ scene_code: 'ship' });
  expect([status, (await refusalOf(incomplete)).details.field]).toEqual(['done', 'stream_url']);
});
