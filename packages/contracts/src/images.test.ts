import { expect, test } from '@jest/globals';
import { refusedImagesOf } from './images.ts';

test.each<[string | string[] | undefined, number]>([
  ['0', 0],
  ['3', 3],
  ['10', 10],
  ['11', 10],
  ['9'.repeat(400), 10],
  [undefined, 0],
  ['', 0],
  ['many', 0],
  ['-1', 0],
  ['2.5', 0],
  ['1e1', 0],
  ['3, 4', 0],
  [['3', '4'], 0],
])('the header %j reports %d refused images', (header, refused) => {
  expect(refusedImagesOf(header)).toBe(refused);
});
