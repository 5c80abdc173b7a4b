import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { until } from '@vision/shared/testing/until';
import { startLiveSource } from '../../examples/live-source.ts';
import { execute, guideExample, misfits } from '../support/guide.ts';
import { halfPastTwo } from '../support/half-past-two.ts';
import { Caller, examples, system } from '../support/system.ts';
import type { Answer } from '../support/system.ts';
import { watchCamera } from '../support/watched-camera.ts';
import type { WatchedCamera } from '../support/watched-camera.ts';

/** The stream of the guide; the test sends its own address in its place. */
const SHOWN_STREAM = 'rtsp://user:secret@camera.example.org/yard';
// Enough of an FLV stream for the probe; it stays open, so the task runs until it is stopped.
const stream = createServer((_req, res) => {
  res.writeHead(200, { 'content-type': 'video/x-flv' });
  res.write(Buffer.concat([Buffer.from('464c5601050000000900000000', 'hex'), Buffer.alloc(1000)]));
});
let caller: Caller;
let watched: WatchedCamera;

beforeAll(async () => {
  caller = await Caller.create({ video_tasks_per_day: 50 });
  await new Promise<void>((resolve) => stream.listen(0, '127.0.0.1', resolve));
  watched = await watchCamera();
});
afterAll(() => {
  watched.close();
  stream.close();
  stream.closeAllConnections();
});

test('lists the scenes', () => asShown());

test('creates a video task for a stream', async () => {
  const { body } = await asShown();
  await caller.stop(String(body['task_id']));
});

test('probes a stream', async () => {
  const camera = await startLiveSource({ video: join(examples, 'street.mp4') });
  try {
    // On a busy machine its time may be over before the first frame.
    const answer = await until(async () => {
      const probed = await send('probes a stream', {}, camera.url);
      return probed.status === 200 && probed.body['problem'] === undefined ? probed : undefined;
    });
    const { status, body } = await guideExample('probes a stream');
    expect([answer.status, misfits(body, answer.body)]).toEqual([status, []]);
    expect(answer.body).toMatchObject({ codec: 'h264', image: { width: 768, height: 576 } });
  } finally {
    camera.close();
  }
});

test('creates a video task for a camera', async () => {
  const { body } = await asShown();
  await caller.stop(String(body['task_id']));
});

test('lists the tasks of a camera', async () => {
  const { body } = await send('creates a video task for a camera');
  const listed = await asShown();
  expect(listed.body['items']).toContainEqual(
    expect.objectContaining({ task_id: body['task_id'], client_ref: 'yard-gate-3' }),
  );
  await caller.stop(String(body['task_id']));
});

test('creates a video task for a file', async () => {
  await asShown();
});

test('pulls result frames', async () => {
  const { body } = await send('creates a video task for a file');
  const variables = { TASK_ID: String(body['task_id']), CURSOR: '' };
  await until(async () => {
    const page = await send('pulls result frames', variables);
    return (page.body['items'] as { objects: unknown[] }[]).some(({ objects }) => objects.length > 0);
  });
  await asShown(variables);
});

test('creates a link to a video', async () => {
  const { body } = await send('creates a video task for a file');
  const created = await asShown({ TASK_ID: String(body['task_id']) });
  const shared = await fetch(system.baseUrl + String(created.body['url']), { headers: { range: 'bytes=4-7' } });
  expect([shared.status, await shared.text()]).toEqual([206, 'ftyp']);
});

test('turns snapshots on', async () => {
  await asShown();
  const camera = await startLiveSource({ video: join(examples, 'street.mp4') });
  try {
    const { body } = await caller.createStream({ scene_code: 'person_vehicle', stream_url: camera.url });
    const taskId = String(body['task_id']);
    const path = `/v1/vision/tasks/${taskId}/live-snapshot`;
    await until(async () => (await caller.get(path)).status === 200);
    const made = await caller.send('POST', '/v1/vision/links', {
      body: JSON.stringify({ path, expires_in_s: 60 }),
      headers: { 'content-type': 'application/json' },
    });
    const shared = await fetch(system.baseUrl + String(made.body['url']));
    const bytes = Buffer.from(await shared.arrayBuffer());
    expect([shared.status, shared.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    expect(bytes.subarray(0, 3).toString('hex')).toBe('ffd8ff');
    expect(Number(shared.headers.get('x-frame-time-ms'))).toBeGreaterThan(Date.now() - 60_000);
    await caller.stop(taskId);
  } finally {
    camera.close();
  }
});

test('selects frames and objects', async () => {
  const { body } = await send('creates a video task for a file');
  const variables = { TASK_ID: String(body['task_id']) };
  await until(async () => {
    const page = await send('selects frames and objects', variables);
    const items = page.body['items'] as { frame_time_ms: number; objects: { label: string }[] }[];
    const isSelected = items.every(
      ({ objects }) => objects.length > 0 && objects.every((one) => one.label === 'person'),
    );
    expect(isSelected && items.every(({ frame_time_ms: time }) => time < 2000)).toBe(true);
    return items.length > 0;
  });
});

test('tries an alarm rule', async () => {
  const { body } = await send('creates a video task for a file');
  const variables = { TASK_ID: String(body['task_id']) };
  await until(async () => (await send('polls the state of a task', variables)).body['status'] === 'succeeded');
  const report = await asShown(variables);
  // People walk through the whole video, and some change their tracks.
  const alarms = report.body['alarms'] as { closed_by: string; track_ids: string[] }[];
  expect(alarms.map((alarm) => alarm.closed_by)).toEqual(['task_end']);
  expect(alarms[0]?.track_ids.length).toBeGreaterThan(1);
});

test('stores an alarm rule', async () => {
  const { body } = await asShown();
  expect(body).toMatchObject({ rule_id: 'yard-at-night', when: { for_ms: 2000, min_count: 1 } });
});

test('lists alarms', async () => {
  const { status, body } = await send('lists alarms');
  expect([status, body['items']]).toEqual([200, []]);
});

test('polls the state of a task', async () => {
  const { body } = await send('creates a video task for a stream');
  await asShown({ TASK_ID: String(body['task_id']) });
  await caller.stop(String(body['task_id']));
});

test('lists who was there between two and three', () => asShownOfCamera());

test('says whether the camera was up between two and three', () => asShownOfCamera());

test('lists events of tasks', async () => {
  const { body } = await send('creates a video task for a stream');
  await until(async () => {
    const page = await send('lists events of tasks');
    const items = page.body['items'] as { type: string; data: { task: { task_id: string } } }[];
    return items.some(({ type, data }) => type === 'task.running' && data.task.task_id === body['task_id']);
  });
  await asShown();
  await caller.stop(String(body['task_id']));
});

test('registers a webhook endpoint', async () => {
  const { body } = await asShown();
  expect(body['secret']).toMatch(/^whsec_/);
});

test('tests a webhook endpoint', async () => {
  await send('registers a webhook endpoint');
  await asShown();
});

test('lists the deliveries of a webhook endpoint', async () => {
  await send('registers a webhook endpoint');
  await send('tests a webhook endpoint');
  // The host of the guide does not exist, so an attempt fails and another one is due.
  await until(async () => {
    const { body } = await send('lists the deliveries of a webhook endpoint');
    const [delivery] = body['items'] as { attempts: unknown[] }[];
    return (delivery?.attempts.length ?? 0) > 0;
  });
  const { body } = await send('lists the deliveries of a webhook endpoint');
  expect(body).toMatchObject({ items: expect.any(Array), next_cursor: '' });
});

test('registers an MQTT broker', () => asShown());

test('stops a task', async () => {
  const { body } = await send('creates a video task for a stream');
  await asShown({ TASK_ID: String(body['task_id']) });
});

test('deletes a task', async () => {
  const { body } = await send('creates a video task for a stream');
  const taskId = String(body['task_id']);
  await caller.stop(taskId);
  await until(async () => (await caller.get(`/v1/vision/tasks/${taskId}`)).body['status'] === 'stopped');
  await asShown({ TASK_ID: taskId });
});

test('detects objects in images', () => asShown());

test('reads the detections of an image call again', async () => {
  const detected = await send('detects objects in images');
  await asShown({ TASK_ID: String(detected.body['task_id']) });
});

test('says what is left of the quota', () => asShown());

test('says what was used on each day', async () => {
  const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  await asShown({ FIRST_DAY: dayBefore(2), LAST_DAY: dayBefore(1) });
});

test('refuses an unknown query parameter', () => asShown());

// The last one: the frame rate of a source is known a minute after its start, which passes during the other tests.
test('reads the source of a task', async () => {
  const variables = { API_KEY: watched.caller.key, TASK_ID: watched.taskId };
  await until(
    async () => {
      const { body: source } = await send('reads the source of a task', variables);
      return 'measured_fps' in source && 'last_frame_time_ms' in source;
    },
    { intervalMs: 500 },
  );
  await asShown(variables);
  await watched.caller.stop(watched.taskId);
});

/** Asks the question of the guide about a camera that failed, until its answer is as shown. */
async function asShownOfCamera(): Promise<void> {
  const variables = await (seen ??= passACamera());
  const name = String(expect.getState().currentTestName);
  const shown = await guideExample(name);
  const isAsShown = async () => misfits(shown.body, (await send(name, variables)).body).length === 0;
  await until(isAsShown).catch(() => undefined);
  await asShown(variables);
}

let seen: Promise<Record<string, string>> | undefined;

/** Lets people pass a camera that then fails, once for all questions about it. */
async function passACamera(): Promise<Record<string, string>> {
  const camera = await startLiveSource({ video: join(examples, 'street.mp4') });
  try {
    const { body } = await caller.createStream({ scene_code: 'person_vehicle', stream_url: camera.url });
    const variables = { TASK_ID: String(body['task_id']), ...halfPastTwo() };
    await until(async () => {
      const { body: timeline } = await send('says whether the camera was up between two and three', variables);
      return (timeline['items'] as { labels: unknown[] }[]).some(({ labels }) => labels.length > 0);
    });
    // A track gets its image when it has some frames.
    await until(async () => {
      const { body: tracks } = await send('lists who was there between two and three', variables);
      return (tracks['items'] as { snapshot: { state: string } }[]).some((one) => one.snapshot.state === 'available');
    });
    camera.close();
    await until(async () => {
      const { body: timeline } = await send('says whether the camera was up between two and three', variables);
      return (timeline['gaps'] as { reason: string }[]).some(({ reason }) => reason === 'source_away');
    });
    await caller.stop(variables.TASK_ID);
    return variables;
  } finally {
    camera.close();
  }
}

/** Sends the request that the guide shows for this test, and compares the answer with that of the guide. */
async function asShown(variables: Record<string, string> = {}): Promise<Answer> {
  const name = String(expect.getState().currentTestName);
  const { status, body } = await guideExample(name);
  const answer = await send(name, variables);
  expect([answer.status, misfits(body, answer.body)]).toEqual([status, []]);
  return answer;
}

async function send(name: string, variables: Record<string, string> = {}, camera?: string): Promise<Answer> {
  const { request } = await guideExample(name);
  const address = `http://127.0.0.1:${(stream.address() as AddressInfo).port}/live`;
  return execute(request.replace(SHOWN_STREAM, camera ?? address), { API_KEY: caller.key, ...variables });
}
