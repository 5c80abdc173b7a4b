import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { processorTimeHeader } from '@vision/shared/contracts/inference';
import { detected } from './support/fake-inference.ts';
import type { DetectAnswer } from './support/fake-inference.ts';
import { files, picture } from './support/form.ts';
import { startImages } from './support/start-images.ts';
import type { TestImages } from './support/start-images.ts';

let images: TestImages;
beforeAll(async () => {
  images = await startImages();
});
afterAll(() => images.stop());

const costing = (answer: DetectAnswer, ms: string): DetectAnswer =>
  typeof answer === 'string' ? answer : { ...answer, headers: { [processorTimeHeader]: ms } };

test('the processor time of each image is told, of an unreadable one too, and of a replay none', async () => {
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
