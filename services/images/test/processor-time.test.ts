import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { refusedImagesHeader } from '@vision/contracts/images';
import { processorTimeHeader } from '@vision/contracts/inference';
import { detected } from './support/fake-inference.ts';
import type { DetectAnswer } from './support/fake-inference.ts';
import { files, picture } from './support/form.ts';
import { startImages } from './support/start-images.ts';
import type { Detections, TestImages } from './support/start-images.ts';

let images: TestImages;
beforeAll(async () => {
  images = await startImages();
});
afterAll(() => images.stop());

const costing = (answer: DetectAnswer, ms: string): DetectAnswer =>
  typeof answer === 'string' ? answer : { ...answer, headers: { [processorTimeHeader]: ms } };

test('reports the processor time of each image, also of an unreadable one, but none for a replay', async () => {
  images.inference.answer = (name) =>
    name === 'broken'
      ? costing({ status: 422, body: { reason: 'not_decodable' } }, '2000')
      : costing(detected(), name === 'odd' ? 'many' : '12');
  const key = randomUUID();
  const parts = files(picture('plain'), picture('broken'), picture('odd'));
  const { status, headers } = await images.post(parts, { key });
  expect(status).toBe(201);
  expect(headers.get(processorTimeHeader)).toBe('12,2000,0');
  const replay = await images.post(parts, { key });
  expect([replay.status, replay.headers.get(processorTimeHeader)]).toEqual([200, null]);
});

test('reports undecodable images as refused, but neither images that failed without a backend nor replays', async () => {
  images.inference.answer = (name) => {
    if (name.startsWith('broken')) return { status: 422, body: { reason: 'not_decodable' } };
    if (name === 'turned-away') return { status: 503, body: { reason: 'saturated' } };
    return name === 'lost' ? 'drop' : detected();
  };
  const key = randomUUID();
  const names = ['plain', 'broken', 'turned-away', 'broken too', 'lost'];
  const parts = files(...names.map((name) => picture(name)));
  const answer = await images.post(parts, { key });
  const body = (await answer.json()) as Detections;
  expect(answer.status).toBe(201);
  expect(body.results.map((entry) => entry.error_code ?? entry.status)).toEqual([
    'succeeded',
    'OP-TASK-REQUEST-INVALID',
    'OP-TASK-UPSTREAM-DOWN',
    'OP-TASK-REQUEST-INVALID',
    'OP-TASK-UPSTREAM-DOWN',
  ]);
  expect(answer.headers.get(refusedImagesHeader)).toBe('2');
  const replay = await images.post(parts, { key });
  expect([replay.status, replay.headers.get(refusedImagesHeader)]).toEqual([200, null]);
});

test('a call whose images can all be decoded reports no refused image', async () => {
  images.inference.answer = () => detected();
  const { status, headers } = await images.post(files(picture('a'), picture('b')), { key: randomUUID() });
  expect([status, headers.get(refusedImagesHeader)]).toEqual([201, '0']);
});
