import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { decide } from '@vision/objects/bucket-owner';
import { until } from '@vision/shared/testing/until';
import { detected } from './support/fake-inference.ts';
import { files, picture } from './support/form.ts';
import { startImages, startReplica } from './support/start-images.ts';
import type { RunningImages, TestImages } from './support/start-images.ts';

let images: TestImages;
beforeAll(async () => {
  images = await startImages();
  images.inference.answer = () => detected();
});
afterAll(() => images.stop());

const remove = async (...taskIds: string[]) => {
  const answer = await images.askAt(images.url, '/internal/v1/deleted-image-calls', { task_ids: taskIds });
  return [answer.status, ((await answer.json()) as { task_ids: string[] }).task_ids];
};
const keys = (key: string) => images.database.db('idempotency_keys').where({ key });
const retention = (replica: RunningImages) => replica.call('POST', '/internal/v1/retention/run');

test('deletes a call with its images; a repeat of its request is refused without a charge', async () => {
  const [key, parts] = [randomUUID(), files(picture('one'), picture('two'))];
  const { body } = await images.detect(parts, { key, query: '?client_ref=order-7' });
  const other = (await images.detect(files(picture('other')))).body;
  const charged = images.quota.reservations.size;
  expect(await remove(body.task_id)).toEqual([200, [body.task_id]]);
  for (const path of ['/internal/v1/image-calls/', '/v1/vision/image-detections/']) {
    const read = path.startsWith('/v1') ? images.call('GET', path + body.task_id) : images.get(path + body.task_id);
    expect((await read).status).toBe(404);
  }
  expect((await images.s3.objects()).filter((name) => name.includes(body.task_id))).toEqual([]);
  expect(await images.database.db('images').where({ task_id: body.task_id })).toEqual([]);
  expect(await keys(key)).toMatchObject([{ client_ref: null }]);
  await retention(images);
  const again = await images.detect(parts, { key, query: '?client_ref=order-7' });
  expect([again.status, again.body.details]).toMatchObject([404, { reason: 'task_not_found' }]);
  expect(images.quota.reservations.size).toBe(charged);
  // Repeats and unknown ids are confirmed alike; other calls stay.
  const unknown = uuidv7();
  expect(await remove(body.task_id, unknown)).toEqual([200, [body.task_id, unknown]]);
  expect((await images.call('GET', `/v1/vision/image-detections/${other.task_id}`)).status).toBe(200);
});

test('the key of a deleted call is free from the time at which the call would have expired', async () => {
  const [key, parts] = [randomUUID(), files(picture('old'))];
  const { body } = await images.detect(parts, { key });
  await remove(body.task_id);
  const later = await startReplica(images, { CLOCK_OFFSET: '91 days', RETENTION_INTERVAL_MS: '3600000' });
  await retention(later);
  expect(await keys(key)).toEqual([]);
  expect((await later.detect(parts, { key })).status).toBe(201);
  await later.stop();
});

test('a restored database removes no image of an expired or a deleted call until an operator approves it', async () => {
  const { db } = images.database;
  await retention(images);
  const [expired, deleted] = [
    (await images.detect(files(picture('expired')))).body.task_id,
    (await images.detect(files(picture('deleted')))).body.task_id,
  ];
  await db('image_calls')
    .where({ task_id: expired })
    .update({ result_expires_at: new Date(0) });
  await db('bucket_owner').where({ name: 'pictures' }).update({ generation: 0 });
  const removed = async () => (await retention(images)).json();
  const picturesOf = async (id: string) => (await images.s3.objects()).filter((name) => name.includes(id));
  expect(await removed()).toMatchObject({ image_calls: 0, pictures: 0 });
  expect(await remove(deleted)).toEqual([200, []]);
  expect([await picturesOf(expired), await picturesOf(deleted)]).toEqual([[expect.any(String)], [expect.any(String)]]);
  await decide(db, 'pictures', 'resume');
  expect(await removed()).toMatchObject({ image_calls: 2, pictures: 2 });
  expect(await remove(deleted)).toEqual([200, [deleted]]);
  expect([await picturesOf(expired), await picturesOf(deleted)]).toEqual([[], []]);
});

test('a restored database keeps the images of a call in progress: it may have finished since', async () => {
  const { db } = images.database;
  await retention(images);
  const { task_id: id } = (await images.detect(files(picture('in progress')))).body;
  await db('bucket_owner').where({ name: 'pictures' }).update({ generation: 0 });
  await db('image_calls').where({ task_id: id }).delete();
  await db('idempotency_keys')
    .where({ task_id: id })
    .update({ state: 'working', expires_at: null, lease_until: new Date(0) });
  await db('lease_watch').update({ take_over_from: db.fn.now() });
  await until(async () => (await db('idempotency_keys').where({ task_id: id })).length === 0);
  expect((await images.s3.objects()).filter((name) => name.includes(id))).toHaveLength(1);
});
