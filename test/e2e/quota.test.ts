import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@vision/shared/testing/until';
import { admin, Caller, example, form, jpeg, refusal, scene } from '../support/system.ts';
import type { Answer } from '../support/system.ts';

const manyAtOnce = { active_tasks: 500, requests_per_second: 10_000, burst: 10_000 };
// Enough of an FLV stream for the probe; it stays open, so a job that watches it waits for its first picture.
const stream = createServer((_req, res) => {
  res.writeHead(200, { 'content-type': 'video/x-flv' });
  res.write(Buffer.concat([Buffer.from('464c5601050000000900000000', 'hex'), Buffer.alloc(1000)]));
});
let body: { scene_code: string; stream_url: string };

beforeAll(async () => {
  await new Promise<void>((resolve) => stream.listen(0, '127.0.0.1', resolve));
  body = {
    scene_code: 'person_vehicle',
    stream_url: `http://127.0.0.1:${(stream.address() as AddressInfo).port}/live`,
  };
});
afterAll(() => {
  stream.close();
  stream.closeAllConnections();
});

/** A busy service asks for another try: the same request with the same key. */
function createAsDocumented(caller: Caller, key: string = randomUUID()): Promise<Answer> {
  return until(async () => {
    const answer = await caller.createStream(body, key);
    return answer.status === 503 ? undefined : answer;
  });
}

test('200 creates at once against a limit of 5 are exactly 5 tasks, 195 refusals and a charge of 5', async () => {
  const caller = await Caller.create({ ...manyAtOnce, video_tasks_per_day: 5 });
  const answers = await Promise.all(Array.from({ length: 200 }, () => createAsDocumented(caller)));
  const made = answers.filter(({ status }) => status === 201);
  const refused = answers.filter((answer) => refusal(answer)[1] === 'OP-QUOTA-DAILY-EXHAUSTED');
  expect([made.length, refused.length]).toEqual([5, 195]);
  expect(refused.every(({ status, headers }) => status === 429 && Number(headers.get('retry-after')) > 0)).toBe(true);
  expect(refused[0]?.body['details']).toMatchObject({ limit: 5, requested: 1 });
  const list = await caller.get('/v1/vision/tasks?limit=100');
  expect((list.body['items'] as unknown[]).length).toBe(5);
  expect(await caller.used('video')).toBe(5);
  await Promise.all(made.map((answer) => caller.stop(String(answer.body['task_id']))));
});

test('50 identical creates at once are one task that all answers name, and one charge', async () => {
  const caller = await Caller.create({ ...manyAtOnce, video_tasks_per_day: 5 });
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: 50 }, () => createAsDocumented(caller, key)));
  expect(new Set(answers.map((answer) => answer.body['task_id'])).size).toBe(1);
  expect(answers.filter(({ status }) => status === 201).length).toBe(1);
  expect(answers.filter(({ status }) => status === 200).length).toBe(49);
  expect(await caller.used('video')).toBe(1);
  await caller.stop(String(answers[0]?.body['task_id']));
});

test('one key names one request: used for images, it is refused for a video, and the reverse', async () => {
  const caller = await Caller.create({ video_tasks_per_day: 5 });
  const pictures = async () => form(jpeg(await example('street.jpg')), scene('person_vehicle'));
  const [first, second] = [randomUUID(), randomUUID()];
  expect((await caller.detect(await pictures(), first)).status).toBe(201);
  expect(refusal(await caller.createStream(body, first))).toEqual([
    400,
    'OP-TASK-REQUEST-INVALID',
    'idempotency_key_reused',
  ]);
  const task = await caller.createStream(body, second);
  expect(task.status).toBe(201);
  expect(refusal(await caller.detect(await pictures(), second))).toEqual([
    400,
    'OP-TASK-REQUEST-INVALID',
    'idempotency_key_reused',
  ]);
  expect([await caller.used('image'), await caller.used('video')]).toEqual([1, 1]);
  await caller.stop(String(task.body['task_id']));
});

test('more images than are left are refused whole, and what fits is detected', async () => {
  const caller = await Caller.create({ images_per_day: 3 });
  const street = await example('street.jpg');
  const calls = (count: number) => caller.detect(form(...Array.from({ length: count }, () => jpeg(street))));
  const refused = await calls(4);
  expect(refusal(refused).slice(0, 2)).toEqual([429, 'OP-QUOTA-DAILY-EXHAUSTED']);
  expect(refused.body['details']).toMatchObject({ limit: 3, used: 0, requested: 4 });
  expect((await calls(3)).status).toBe(201);
  expect(refusal(await calls(1)).slice(0, 2)).toEqual([429, 'OP-QUOTA-DAILY-EXHAUSTED']);
  expect(await caller.used('image')).toBe(3);
});

test('40 calls of 10 images at once against a limit of 100 are 100 images charged, and not one more', async () => {
  const caller = await Caller.create({ ...manyAtOnce, images_per_day: 100, image_calls: 100 });
  const street = await example('street.jpg');
  const ten = () => form(...Array.from({ length: 10 }, () => jpeg(street)), scene('fire_smoke'));
  const answers = await Promise.all(Array.from({ length: 40 }, () => caller.detect(ten())));
  const refused = answers.filter((answer) => refusal(answer)[1] === 'OP-QUOTA-DAILY-EXHAUSTED');
  expect([answers.filter(({ status }) => status === 201).length, refused.length]).toEqual([10, 30]);
  expect(await caller.used('image')).toBe(100);
});

test('maintenance keeps new work out within 2 s and lets replays, reads and stops through', async () => {
  const caller = await Caller.create({ video_tasks_per_day: 1000, active_tasks: 1000 });
  const key = randomUUID();
  const { body: task } = await caller.createStream(body, key);
  const switched = (enabled: boolean) => admin('PUT', '/admin/v1/maintenance', { enabled, reason: 'test' });
  await switched(true);
  try {
    // A create that is sent later than this is refused; a busy machine may take its time to answer the ones before.
    const deadline = Date.now() + 2_000;
    let answer = await caller.createStream(body);
    for (let isLate = false; answer.status === 201 && !isLate;) {
      await caller.stop(String(answer.body['task_id']));
      isLate = Date.now() >= deadline;
      answer = await caller.createStream(body);
    }
    expect(refusal(answer)).toEqual([503, 'OP-TASK-BREAKER-OPEN', 'maintenance']);
    const images = await caller.detect(form(jpeg(await example('street.jpg'))));
    expect(refusal(images)).toEqual([503, 'OP-TASK-BREAKER-OPEN', 'maintenance']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(images.headers.get('retry-after')).toBe(answer.headers.get('retry-after'));
    expect((await caller.createStream(body, key)).status).toBe(200);
    expect((await caller.stop(String(task['task_id']))).status).toBe(200);
  } finally {
    await switched(false);
  }
});
