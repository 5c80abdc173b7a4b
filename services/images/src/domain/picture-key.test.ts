import { expect, test } from '@jest/globals';
import { dayPrefix, parsePictureKey, pictureKey } from './picture-key.ts';

// RFC 9562, appendix A.6: made at 2022-02-22T19:22:22Z.
const taskId = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';

test('the key of a picture carries the day of its task id', () => {
  expect(pictureKey(taskId, 3)).toBe(`pictures/2022-02-22/${taskId}/3`);
  expect(pictureKey(taskId, 3).startsWith(dayPrefix(new Date('2022-02-22T23:59:59Z')))).toBe(true);
});

test('a key tells its task, other keys tell nothing', () => {
  expect(parsePictureKey(pictureKey(taskId, 9))).toEqual({ taskId, seq: 9 });
  expect(
    [
      'pictures/x',
      `uploads/2022-02-22/${taskId}/1`,
      `pictures/2022-02-22/${taskId}/1/2`,
      `pictures/2022-02-22/${'-'.repeat(36)}/1`,
    ].map(parsePictureKey),
  ).toEqual([undefined, undefined, undefined, undefined]);
});
