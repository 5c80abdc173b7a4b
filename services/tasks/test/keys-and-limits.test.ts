import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks } from './support/system.ts';
import type { TestTasks, World } from './support/system.ts';

let world: World;
let tasks: TestTasks;
/** A stream that answers on command of the test. */
let probes = 0;
const held: ServerResponse[] = [];
const slow = createServer((_req, res) => {
  probes += 1;
  held.push(res);
});
let slowUrl: string;
beforeAll(async () => {
  world = await createWorld();
  // Long enough for the delays of these tests on any machine.
  tasks = await startTasks(world, {
    SUBMIT_TIMEOUT_MS: '30000',
    LEASE_MS: '20000',
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  slowUrl = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/live.m3u8`;
});
afterEach(() => {
  answerProbes();
  probes = 0;
});
afterAll(async () => {
  slow.close();
  slow.closeAllConnections();
  await tasks.stop();
  await world.close();
});

function answerProbes(): void {
  for (const res of held.splice(0)) {
    res.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end('#EXTM3U\n');
  }
}

test('the meaning of a create request is its JSON content, not its formatting', async () => {
  const subject = randomUUID();
  const key = randomUUID();
  const { url } = world.stream;
  const first = await tasks.create({ subject, key, scene: 'ship' });
  const post = (text: string) =>
    tasks.call('POST', '/v1/vision/tasks', { subject, key, body: {}, raw: { body: text } });
  const same = [
    `{"stream_url":"${url}","scene_code":"ship"}`,
    `\n{ "scene_code" : "ship" ,\t"stream_url" : "${url}" }\n`,
    `{"scene_code":"\\u0073hip","stream_url":"${url.replaceAll('/', String.raw`\/`)}"}`,
    `{"scene_code":"ship","stream_url":"${url.replace('http:', 'HTTP:')}"}`,
    // Of a repeated member, the last one counts.
    `{"scene_code":"fishing","stream_url":"${url}","scene_code":"ship"}`,
  ];
  for (const text of same) {
    const { status, body } = await post(text);
    expect([text, status, body.task_id]).toEqual([text, 200, first.body.task_id]);
  }
  const others = [
    `{"scene_code":"ship","stream_url":"${url}","scene_code":"fishing"}`,
    `{"scene_code":"ship","stream_url":"${url}?a=1"}`,
    `{"scene_code":"fishing","stream_url":"${url}"}`,
    `{"scene_code":"no_such_scene","stream_url":"${url}"}`,
  ];
  for (const text of others) {
    const { status, body } = await post(text);
    expect([text, status, body.details?.['reason']]).toEqual([text, 400, 'idempotency_key_reused']);
  }
  expect(await world.quota.used(subject)).toBe(1);
});

test('while the first request runs, a different request is refused at once and the same request waits for its task', async () => {
  const subject = randomUUID();
  const key = randomUUID();
  const first = tasks.create({ subject, key, url: slowUrl });
  await until(() => probes === 1);
  const other = await tasks.create({ subject, key });
  expect([other.status, other.body.details?.['reason']]).toEqual([400, 'idempotency_key_reused']);
  const second = tasks.create({ subject, key, url: slowUrl });
  answerProbes();
  expect((await first).status).toBe(201);
  expect([(await second).status, (await second).body.task_id]).toEqual([200, (await first).body.task_id]);
  expect(await world.quota.used(subject)).toBe(1);
});

test('repeats of a request that found the quota used up are refused without another probe', async () => {
  const subject = randomUUID();
  const key = randomUUID();
  const limits = { video_tasks_per_day: 1 };
  const waiting = Array.from({ length: 10 }, () => tasks.create({ subject, key, limits, url: slowUrl }));
  await until(() => probes === 1);
  expect((await tasks.create({ subject, limits })).status).toBe(201);
  answerProbes();
  const answers = await Promise.all(waiting);
  expect(answers.map(({ body }) => body.code)).toEqual(Array.from({ length: 10 }, () => 'OP-QUOTA-DAILY-EXHAUSTED'));
  expect(probes).toBe(1);
  expect(await world.quota.used(subject)).toBe(1);
});

test('a create request whose unit is refused leaves no data: its key is free at once', async () => {
  const subject = randomUUID();
  const key = randomUUID();
  const limits = { video_tasks_per_day: 1 };
  const refused = tasks.create({ subject, key, limits, url: slowUrl });
  await until(() => probes === 1);
  expect((await tasks.create({ subject, limits })).status).toBe(201);
  answerProbes();
  expect((await refused).body.code).toBe('OP-QUOTA-DAILY-EXHAUSTED');
  const { db } = world.database;
  await until(async () => (await db('tasks').where({ subject })).length === 1);
  expect(await db('idempotency_keys').where({ subject, key })).toEqual([]);
  expect((await tasks.create({ subject, key, scene: 'ship' })).status).toBe(201);
  expect(await world.quota.used(subject)).toBe(2);
});

test('fifty identical concurrent create requests give one task and one charge', async () => {
  const subject = randomUUID();
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: 50 }, () => tasks.create({ subject, key })));
  expect(new Set(answers.map((answer) => answer.body.task_id)).size).toBe(1);
  expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(49);
  expect(await world.quota.used(subject)).toBe(1);
});

test('the daily limit is enforced, and the refusal says when it resets', async () => {
  const subject = randomUUID();
  const limits = { video_tasks_per_day: 5, active_tasks: 1000 };
  const answers = await Promise.all(Array.from({ length: 60 }, () => tasks.create({ subject, limits })));
  // On a busy machine, a task may be returned before its outcome is known.
  const codes = answers.map(({ status, body }) => body.code ?? (status === 201 || status === 202 ? 'created' : status));
  expect(codes.filter((code) => code === 'created')).toHaveLength(5);
  expect(codes.filter((code) => code !== 'created')).toEqual(
    Array.from({ length: 55 }, () => 'OP-QUOTA-DAILY-EXHAUSTED'),
  );
  const refused = answers.find((answer) => answer.status === 429);
  expect(refused?.body).toMatchObject({
    code: 'OP-QUOTA-DAILY-EXHAUSTED',
    details: { limit: 5, used: 5, requested: 1 },
  });
  expect(Number(refused?.headers.get('retry-after'))).toBeLessThanOrEqual(86_400);
  expect(await world.quota.used(subject)).toBe(5);
});

test('limits active tasks under concurrency', async () => {
  const subject = randomUUID();
  const limits = { active_tasks: 3, video_tasks_per_day: 100 };
  const answers = await Promise.all(Array.from({ length: 12 }, () => tasks.create({ subject, limits })));
  expect(answers.filter((answer) => answer.status === 201)).toHaveLength(3);
  const refused = answers.filter((answer) => answer.status === 429);
  expect(refused).toHaveLength(9);
  for (const answer of refused)
    expect(answer.body).toMatchObject({ code: 'OP-QUOTA-RATE-LIMITED', details: { reason: 'active_tasks' } });
  expect(await world.quota.used(subject)).toBe(3);
});
