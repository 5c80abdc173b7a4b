import { beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createVisionClient } from '@vision/client';
import type { Event } from '@vision/client';
import { until } from '@vision/shared/testing/until';
import { Caller, example, form, refusal, scene, system } from '../support/system.ts';
import type { Answer } from '../support/system.ts';
import { untilStatus, video } from '../support/video.ts';

const JSON_BODY = { 'content-type': 'application/json' };
const RULE = '/v1/vision/alarm-rules/street';
const people = { name: 'Street', when: { kind: 'object_present', labels: ['person'], for_ms: 1000 } };

let caller: Caller;
let street: Buffer;
beforeAll(async () => {
  caller = await Caller.create({ video_tasks_per_day: 50 });
  street = await example('street.mp4');
});

const put = (path: string, body: object): Promise<Answer> =>
  caller.send('PUT', path, { body: JSON.stringify(body), headers: JSON_BODY });
const alarmsOf = async (query: string) =>
  (await caller.get(`/v1/vision/alarms?${query}`)).body['items'] as { alarm_id: string; track_ids: string[] }[];

async function upload(clientRef: string): Promise<string> {
  const { body } = await caller.send('POST', `/v1/vision/video-tasks?client_ref=${clientRef}`, {
    body: form(video(street), scene('person_vehicle')),
    headers: { 'idempotency-key': randomUUID() },
  });
  return String(body['task_id']);
}

test('a rule raises one alarm on the video that it is for, its subject reads it as events and reviews it', async () => {
  const vision = createVisionClient({ baseUrl: system.baseUrl, apiKey: caller.key });
  const { body: log } = await caller.get('/v1/vision/events?order=newest&limit=1');
  expect((await put(RULE, { ...people, scope: { client_refs: ['street'] } })).status).toBe(201);
  const [elsewhere, taskId] = [await upload('elsewhere'), await upload('street')];
  for (const id of [elsewhere, taskId]) expect(await untilStatus(caller, id, 'succeeded')).toBe('succeeded');

  const events: Event[] = [];
  const types = 'alarm.opened,alarm.closed';
  for await (const event of vision.events({ types, cursor: String(log['resume_cursor']) })) {
    events.push(event);
    if (event.type === 'alarm.closed') break;
  }
  expect(events.map(({ type }) => type)).toEqual(['alarm.opened', 'alarm.closed']);

  // People walk through the whole video, and some change their tracks.
  const found = await alarmsOf(`task_id=${taskId}`);
  expect(found).toMatchObject([
    { rule_id: 'street', client_ref: 'street', state: 'closed', closed_by: 'task_end', labels: ['person'] },
  ]);
  expect(found[0]?.track_ids.length).toBeGreaterThan(1);
  expect(await alarmsOf(`task_id=${elsewhere}`)).toEqual([]);

  const alarm = `/v1/vision/alarms/${found[0]?.alarm_id}`;
  const reviewed = await put(`${alarm}/review`, { verdict: 'confirmed' });
  expect([reviewed.status, reviewed.body['review']]).toMatchObject([200, { verdict: 'confirmed' }]);
  expect((await caller.get(RULE)).body['verdicts']).toEqual({ none: 0, confirmed: 1, false_alarm: 0 });

  expect((await caller.send('DELETE', `/v1/vision/tasks/${taskId}`)).status).toBe(202);
  await until(async () => (await caller.get(alarm)).status === 404);
  const { body: left } = await caller.get('/v1/vision/events?types=alarm.opened,alarm.closed');
  expect(left['items']).toEqual([]);
});

test('a deleted rule raises no alarm', async () => {
  expect((await put(RULE, { ...people, scope: { client_refs: ['later'] } })).status).toBeLessThan(300);
  expect((await caller.send('DELETE', RULE)).status).toBe(204);
  expect(refusal(await caller.get(RULE))).toEqual([404, undefined, 'rule_not_found']);
  const taskId = await upload('later');
  expect(await untilStatus(caller, taskId, 'succeeded')).toBe('succeeded');
  expect(await alarmsOf(`task_id=${taskId}`)).toEqual([]);
});
