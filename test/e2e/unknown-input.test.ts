import { beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { until } from '@vision/shared/testing/until';
import { Caller, example, form, jpeg, refusal, scene } from '../support/system.ts';
import type { Answer, Part } from '../support/system.ts';
import { madeVideo, video } from '../support/video.ts';

type Body = NonNullable<RequestInit['body']>;

interface Sent {
  query?: string;
  headers?: Record<string, string>;
  body?: Body;
}

interface Operation {
  method: string;
  path: string;
  /** The body and headers of a valid request; absent for operations that take no body. */
  valid?: () => Promise<{ body: Body; headers?: Record<string, string> }>;
  /** The same body with a field that the operation does not have. */
  withUnknownField?: () => Promise<Body>;
  /** The status of the answer to a valid request. */
  status: number;
  /** The answer has no end: a valid request asks for its head only. */
  isEndless?: true;
}

const TASK = '{task_id}';
const json = { 'content-type': 'application/json' };
/** No program listens there: a create request that passes all checks ends with `stream_unreachable`. */
const streamBody = { scene_code: 'ship', stream_url: 'http://127.0.0.1:1/' };
const unknownPart: Part = { name: 'colour', value: 'red' };

let caller: Caller;
let taskId: string;
let clip: Uint8Array;

const linkBody = () => ({ path: `/v1/vision/tasks/${taskId}/video`, expires_in_s: 60 });
const backtestBody = () => ({
  task_id: taskId,
  from_ms: 0,
  to_ms: 60_000,
  when: { kind: 'object_present', labels: ['ship'] },
});
const alarmRule = { name: 'quay', when: { kind: 'object_present', labels: ['ship'] } };
const imageForm = async (...more: Part[]) => form(jpeg(await example('street.jpg')), scene('ship'), ...more);
const videoForm = (...more: Part[]) => form(video(clip), scene('ship'), ...more);

const operations: Record<string, Operation> = {
  listScenes: { method: 'GET', path: '/api/op/v1/scenes', status: 200 },
  getKey: { method: 'GET', path: '/v1/vision/key', status: 200 },
  getUsage: { method: 'GET', path: '/v1/vision/usage', status: 200 },
  getUsageDays: { method: 'GET', path: '/v1/vision/usage/days', status: 200 },
  // The task is a video.
  getImageDetection: { method: 'GET', path: `/v1/vision/image-detections/${TASK}`, status: 404 },
  listTasks: { method: 'GET', path: '/v1/vision/tasks', status: 200 },
  getTask: { method: 'GET', path: `/v1/vision/tasks/${TASK}`, status: 200 },
  getTaskVideo: { method: 'GET', path: `/v1/vision/tasks/${TASK}/video`, status: 200 },
  // The task is an upload.
  getLiveSnapshot: { method: 'GET', path: `/v1/vision/tasks/${TASK}/live-snapshot`, status: 400 },
  getSettings: { method: 'GET', path: '/v1/vision/settings', status: 200 },
  putSettings: {
    method: 'PUT',
    path: '/v1/vision/settings',
    valid: () => Promise.resolve({ body: JSON.stringify({ snapshots: 'off' }), headers: json }),
    withUnknownField: () => Promise.resolve(JSON.stringify({ snapshots: 'off', colour: 'red' })),
    status: 200,
  },
  getResults: { method: 'GET', path: `/v1/vision/tasks/${TASK}/results`, status: 200 },
  listTracks: { method: 'GET', path: `/v1/vision/tasks/${TASK}/tracks`, status: 200 },
  getTimeline: { method: 'GET', path: `/v1/vision/tasks/${TASK}/timeline`, status: 200 },
  getTrack: { method: 'GET', path: `/v1/vision/tasks/${TASK}/tracks/a1-1`, status: 404 },
  getTrackSnapshot: { method: 'GET', path: `/v1/vision/tasks/${TASK}/tracks/a1-1/snapshot`, status: 404 },
  getResultStream: { method: 'GET', path: `/v1/vision/tasks/${TASK}/results/stream`, status: 200 },
  listEvents: { method: 'GET', path: '/v1/vision/events', status: 200 },
  getEventStream: { method: 'GET', path: '/v1/vision/events/stream', status: 200, isEndless: true },
  listAlarmRules: { method: 'GET', path: '/v1/vision/alarm-rules', status: 200 },
  putAlarmRule: {
    method: 'PUT',
    path: '/v1/vision/alarm-rules/quay',
    valid: () => Promise.resolve({ body: JSON.stringify(alarmRule), headers: json }),
    withUnknownField: () => Promise.resolve(JSON.stringify({ ...alarmRule, colour: 'red' })),
    status: 201,
  },
  // The subject has no such rule and no such alarm.
  getAlarmRule: { method: 'GET', path: '/v1/vision/alarm-rules/none', status: 404 },
  deleteAlarmRule: { method: 'DELETE', path: '/v1/vision/alarm-rules/none', status: 404 },
  listAlarms: { method: 'GET', path: '/v1/vision/alarms', status: 200 },
  getAlarm: { method: 'GET', path: `/v1/vision/alarms/${TASK}`, status: 404 },
  reviewAlarm: {
    method: 'PUT',
    path: `/v1/vision/alarms/${TASK}/review`,
    valid: () => Promise.resolve({ body: JSON.stringify({ verdict: 'confirmed' }), headers: json }),
    withUnknownField: () => Promise.resolve(JSON.stringify({ verdict: 'confirmed', colour: 'red' })),
    status: 404,
  },
  getSource: { method: 'GET', path: `/v1/vision/tasks/${TASK}/source`, status: 200 },
  // The task is a short clip: it has ended.
  stopTask: { method: 'POST', path: `/v1/vision/tasks/${TASK}/stop`, status: 409 },
  // No task has this id.
  deleteTask: { method: 'DELETE', path: '/v1/vision/tasks/00000000-0000-7000-8000-000000000000', status: 404 },
  getOpenapiDocument: { method: 'GET', path: '/openapi.json', status: 200 },
  createStreamTask: {
    method: 'POST',
    path: '/v1/vision/tasks',
    valid: async () => ({ body: JSON.stringify(streamBody), headers: json }),
    withUnknownField: async () => JSON.stringify({ ...streamBody, colour: 'red' }),
    status: 400,
  },
  createStreamProbe: {
    method: 'POST',
    path: '/v1/vision/stream-probes',
    valid: async () => ({ body: JSON.stringify(streamBody), headers: json }),
    withUnknownField: async () => JSON.stringify({ ...streamBody, colour: 'red' }),
    status: 400,
  },
  // The token is none.
  getLink: { method: 'GET', path: '/v1/vision/links/none', status: 404 },
  createLink: {
    method: 'POST',
    path: '/v1/vision/links',
    valid: () => Promise.resolve({ body: JSON.stringify(linkBody()), headers: json }),
    withUnknownField: () => Promise.resolve(JSON.stringify({ ...linkBody(), colour: 'red' })),
    status: 201,
  },
  createAlarmBacktest: {
    method: 'POST',
    path: '/v1/vision/alarm-backtests',
    valid: () => Promise.resolve({ body: JSON.stringify(backtestBody()), headers: json }),
    withUnknownField: () => Promise.resolve(JSON.stringify({ ...backtestBody(), colour: 'red' })),
    status: 200,
  },
  createUploadTask: {
    method: 'POST',
    path: '/v1/vision/video-tasks',
    valid: async () => ({ body: videoForm() }),
    withUnknownField: async () => videoForm(unknownPart),
    status: 201,
  },
  createImageDetection: {
    method: 'POST',
    path: '/v1/vision/image-detections',
    valid: async () => ({ body: await imageForm() }),
    withUnknownField: async () => imageForm(unknownPart),
    status: 201,
  },
};
const all = Object.entries(operations);
const withoutBody = all.filter(([, { valid }]) => !valid);
const posts = withoutBody.filter(([, { method }]) => method === 'POST');
const withBody = all.filter(([, { valid }]) => valid);

beforeAll(async () => {
  caller = await Caller.create({ video_tasks_per_day: 50 });
  clip = await madeVideo('unknown-input.mp4', '-f', 'lavfi', '-i', 'testsrc2=d=1:s=320x240', '-c:v', 'libx264');
  const { body } = await caller.createUpload(videoForm());
  taskId = String(body['task_id']);
  await until(async () => (await caller.get(`/v1/vision/tasks/${taskId}`)).body['status'] === 'succeeded');
});

async function ask({ method, path, valid }: Operation, { query = '', headers, body }: Sent): Promise<Answer> {
  const own = await valid?.();
  const sent = body ?? own?.body;
  return caller.send(method, path.replace(TASK, taskId) + query, {
    ...(sent === undefined ? {} : { body: sent }),
    headers: { ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}), ...own?.headers, ...headers },
  });
}

const unknownField = (field: string) => [[400, 'OP-TASK-REQUEST-INVALID', 'unknown_field'], field];
const refusedField = (answer: Answer) => [refusal(answer), (answer.body['details'] as { field?: string }).field];

test.each(all)('%s refuses an unknown query parameter', async (_name, operation) => {
  const used = [await caller.used('video'), await caller.used('image')];
  expect(refusedField(await ask(operation, { query: '?colour=red' }))).toEqual(unknownField('colour'));
  expect(refusedField(await ask(operation, { query: '?__proto__=red' }))).toEqual(unknownField('__proto__'));
  expect([await caller.used('video'), await caller.used('image')]).toEqual(used);
});

test.each(withBody)('%s refuses an unknown field of the body', async (_name, operation) => {
  const body = (await operation.withUnknownField?.()) ?? '';
  expect(refusedField(await ask(operation, { body }))).toEqual(unknownField('colour'));
});

test.each(posts)('%s takes no body, and refuses one that holds a field', async (_name, operation) => {
  const answer = await ask(operation, { body: '{"colour":"red"}', headers: json });
  expect(refusedField(answer)).toEqual(unknownField('colour'));
  expect(refusal(await ask(operation, { body: 'colour=red' }))).toEqual([
    400,
    'OP-TASK-REQUEST-INVALID',
    'body_invalid',
  ]);
  for (const body of ['', '{}']) expect((await ask(operation, { body, headers: json })).status).toBe(operation.status);
});

test.each(all)('%s ignores an unknown header and an empty query', async (_name, operation) => {
  const method = operation.isEndless ? 'HEAD' : operation.method;
  const answer = await ask({ ...operation, method }, { query: '?', headers: { 'x-colour': 'red' } });
  expect(answer.status).toBe(operation.status);
  expect(['unknown_field', 'query_invalid']).not.toContain(refusal(answer)[2]);
});
