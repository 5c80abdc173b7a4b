import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ownPrefixOf } from '@vision/objects/own-prefix';
import { testToken } from '@vision/shared/testing/service-keys';
import { detected, oneObject } from './support/fake-inference.ts';
import { file, files, picture, scene } from './support/form.ts';
import { startImages } from './support/start-images.ts';
import type { TestImages } from './support/start-images.ts';

let images: TestImages;
beforeAll(async () => {
  images = await startImages();
});
afterAll(() => images.stop());
afterEach(() => {
  images.inference.answer = () => detected();
  images.quota.fault = () => 'none';
});

test('a service that may read calls cannot act in the name of a caller', async () => {
  expect((await images.get(`/internal/v1/image-calls/${randomUUID()}`)).status).toBe(404);
  const headers = { authorization: `Bearer ${await testToken('tasks', 'images', { subject: 'subject-a' })}` };
  for (const path of ['/v1/vision/image-detections', '/internal/v1/retention/run']) {
    const refused = await fetch(images.url + path, { method: 'POST', headers });
    expect([refused.status, await refused.json()]).toMatchObject([403, { details: { reason: 'call_not_allowed' } }]);
  }
});

test('images are detected, stored and answered in upload order', async () => {
  images.inference.answer = (name) => detected([{ ...oneObject, score: name === 'first' ? 0.7 : 0.9 }]);
  const { status, body } = await images.detect(
    [file(picture('first')), scene('person_vehicle'), file(picture('second'))],
    {
      key: 'ABCDEF00-0000-4000-8000-000000000001',
    },
  );
  expect(status).toBe(201);
  expect(body).toEqual({
    task_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    request_id: 'ABCDEF00-0000-4000-8000-000000000001',
    status: 'succeeded',
    results: [
      { seq: 0, status: 'succeeded', objects: [{ ...oneObject, score: 0.7 }] },
      { seq: 1, status: 'succeeded', objects: [oneObject] },
    ],
  });
  const stored = (await images.s3.objects()).filter((key) => key.includes(body.task_id));
  const day = new Date().toISOString().slice(0, 10);
  const own = await ownPrefixOf({ db: images.database.db, name: 'pictures', prefix: 'pictures/' });
  expect(stored.sort()).toEqual([0, 1].map((seq) => `${own}${day}/${body.task_id}/${seq}`));
  expect(images.quota.reservations.get(`${body.task_id}/1`)).toMatchObject({ units: 2, charged: 2 });
});

test('without a scene the default scene is used, with its lower bound in the request to the backend', async () => {
  let asked: URL | undefined;
  images.inference.answer = (_name, url) => {
    asked = url;
    return detected([oneObject, { ...oneObject, score: 0.41, track_id: 'x' }, { ...oneObject, score: 0.01 }]);
  };
  const { body } = await images.detect(files(picture()));
  expect(asked?.search).toBe('?scene_code=fire_smoke&min_score=0.11');
  expect(body.results[0]?.objects).toEqual([oneObject, { ...oneObject, score: 0.41 }]);
});

test('an image fails alone: undecodable, backend fault, lost answer; only the others are charged', async () => {
  images.inference.answer = (name) =>
    name === 'bad'
      ? { status: 422, body: { reason: 'undecodable' } }
      : name === 'down'
        ? { status: 503, body: { reason: 'overloaded' } }
        : name === 'lost'
          ? 'drop'
          : detected();
  const { status, body } = await images.detect(files(...['bad', 'good', 'down', 'lost'].map((name) => picture(name))));
  expect(status).toBe(201);
  expect(body.results).toEqual([
    { seq: 0, status: 'failed', error_code: 'OP-TASK-REQUEST-INVALID' },
    { seq: 1, status: 'succeeded', objects: [oneObject] },
    { seq: 2, status: 'failed', error_code: 'OP-TASK-UPSTREAM-DOWN' },
    { seq: 3, status: 'failed', error_code: 'OP-TASK-UPSTREAM-DOWN' },
  ]);
  expect(images.quota.reservations.get(`${body.task_id}/1`)).toEqual({ units: 4, charged: 1, open: false });
});

test('a call of which every image failed is a finished call that costs nothing', async () => {
  images.inference.answer = () => ({ status: 422, body: { reason: 'undecodable' } });
  const key = randomUUID();
  const { status, body } = await images.detect(files(picture('a'), picture('b')), { key });
  expect(status).toBe(201);
  expect(body.results.map((entry) => entry.status)).toEqual(['failed', 'failed']);
  expect(images.quota.reservations.get(`${body.task_id}/1`)).toMatchObject({ charged: 0 });
  const again = await images.detect(files(picture('a'), picture('b')), { key });
  expect(again).toEqual({ status: 200, body: { ...body, replayed: true } });
});

test('exactly ten images of exactly 8 MiB in the three formats are accepted', async () => {
  const bytes = 8 * 1024 * 1024;
  const types = ['jpeg', 'png', 'webp'] as const;
  const parts = Array.from({ length: 10 }, (_, index) => {
    const type = types[index % 3] ?? 'png';
    return file(picture(`large-${index}`, { bytes, type }), { type: `image/${type}` });
  });
  const { status, body } = await images.detect(parts);
  expect(status).toBe(201);
  expect(body.results.map((entry) => entry.status)).toEqual(Array(10).fill('succeeded'));
});

test('an unknown, a disabled and a foreign id: the record of a call is shown to its owner only', async () => {
  const { body } = await images.detect(files(picture()), { caller: { subject: 'owner' } });
  const path = `/internal/v1/image-calls/${body.task_id}`;
  const own = await images.get(path, { subject: 'owner' });
  expect(own.status).toBe(200);
  expect(await own.json()).toMatchObject({
    task_id: body.task_id,
    kind: 'image',
    subject: 'owner',
    request_id: body.request_id,
    scene_code: 'fire_smoke',
    images_total: 1,
    images_succeeded: 1,
    version: 1,
    reservation_id: `${body.task_id}/1`,
  });
  for (const other of [path, `/internal/v1/image-calls/${randomUUID()}`, '/internal/v1/image-calls/nonsense']) {
    expect((await images.get(other, { subject: 'stranger' })).status).toBe(404);
  }
});
