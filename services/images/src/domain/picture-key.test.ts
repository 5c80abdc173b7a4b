import { expect, test } from '@jest/globals';
import { dayOf, parsePictureKey, pictureKey, pictureKeys } from './picture-key.ts';

// RFC 9562, appendix A.6: created at 2022-02-22T19:22:22Z.
const taskId = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
const own = 'pictures/of-3f2504e0-4f89-41d3-9a0c-0305e82c3301/';

test('the key of an image carries its database and the day of its task id', () => {
  expect(pictureKey(own, taskId, 3)).toBe(`${own}2022-02-22/${taskId}/3`);
  expect(pictureKey(own, taskId, 3).startsWith(own + dayOf(new Date('2022-02-22T23:59:59Z')))).toBe(true);
});

test('a call that is rolled back may have images of this release and of the one before', () => {
  expect(pictureKeys(own, { taskId, imagesTotal: 2 })).toEqual([
    `${own}2022-02-22/${taskId}/0`,
    `${own}2022-02-22/${taskId}/1`,
    `pictures/2022-02-22/${taskId}/0`,
    `pictures/2022-02-22/${taskId}/1`,
  ]);
});

test('a key contains its task id, with a database prefix and without; other keys are not parsed', () => {
  expect(parsePictureKey(pictureKey(own, taskId, 9))).toEqual({ taskId, seq: 9 });
  expect(parsePictureKey(`pictures/2022-02-22/${taskId}/9`)).toEqual({ taskId, seq: 9 });
  expect(
    [
      'pictures/x',
      'pictures/of-x',
      `uploads/2022-02-22/${taskId}/1`,
      `pictures/2022-02-22/${taskId}/1/2`,
      `pictures/2022-02-22/${'-'.repeat(36)}/1`,
    ].map(parsePictureKey),
  ).toEqual([undefined, undefined, undefined, undefined, undefined]);
});
