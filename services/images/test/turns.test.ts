import { afterEach, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { detected } from './support/fake-inference.ts';
import { files, picture } from './support/form.ts';
import { startImages } from './support/start-images.ts';
import type { TestImages } from './support/start-images.ts';

let images: TestImages | undefined;
afterEach(async () => {
  await images?.stop();
});

test('answers an image while images of two other subjects occupy the backend for long', async () => {
  const it = (images = await startImages({ IMAGES_AT_ONCE: '16' }));
  const { promise: decided, resolve: decide } = Promise.withResolvers<void>();
  it.inference.answer = async (text) => {
    if (text !== 'honest') await decided;
    return detected();
  };
  const flood = ['one', 'other'].flatMap((subject) =>
    Array.from({ length: 5 }, (_, call) => {
      const parts = files(...Array.from({ length: 4 }, (_, index) => picture(`${subject}${call}${index}`)));
      return it.detect(parts, { caller: { subject } });
    }),
  );
  // 40 images compete for 16 slots; each subject holds at most its share.
  await until(() => it.inference.seen.length >= 10);
  const honest = await it.detect(files(picture('honest')), { caller: { subject: 'honest' } });
  expect(honest.body.results.map(({ status }) => status)).toEqual(['succeeded']);
  expect(it.inference.seen.length).toBeLessThan(16);
  decide();
  expect((await Promise.all(flood)).map(({ status }) => status)).toEqual(Array(10).fill(201));
});
