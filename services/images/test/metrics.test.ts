import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testMetrics } from '@vision/shared/testing/metrics';
import { until } from '@vision/shared/testing/until';
import { detected } from './support/fake-inference.ts';
import { files, picture } from './support/form.ts';
import { startImages } from './support/start-images.ts';
import type { TestImages } from './support/start-images.ts';

const metrics = testMetrics();
let images: TestImages;
beforeAll(async () => {
  images = await startImages({ MAX_CALLS: '4' });
});
afterAll(() => images.stop());

test('calls in progress use slots, and their images use bytes, until they are answered', async () => {
  const places = (state: string) => metrics.sumOf('vision.images.places', { state });
  const bytes = () => metrics.sumOf('vision.images.spool.bytes');
  expect([await places('used'), await places('free'), await bytes()]).toEqual([0, 4, 0]);
  const { promise: decided, resolve: decide } = Promise.withResolvers<void>();
  images.inference.answer = async () => {
    await decided;
    return detected();
  };
  const call = images.detect(files(picture('one')));
  await until(async () => (await places('used')) === 1 && Number(await bytes()) > 0);
  expect(await places('free')).toBe(3);
  decide();
  expect((await call).status).toBe(201);
  await until(async () => (await places('used')) === 0 && (await bytes()) === 0);
});
