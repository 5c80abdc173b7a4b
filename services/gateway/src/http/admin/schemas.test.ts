import { expect, test } from '@jest/globals';
import { keyName } from './schemas.ts';

test.each(['camera 7', 'Kamera Süd', '摄像头'])('%j is a name of a key', (name) => {
  expect(keyName.safeParse(name).success).toBe(true);
});

test.each(['a\u202eb', 'a\u2028b', 'a\u2029b', 'a\u200bb', 'a\nb', ''])('%j is no name of a key', (name) => {
  expect(keyName.safeParse(name).success).toBe(false);
});
