import { expect, test } from '@jest/globals';
import { sniffContainer } from './container-format.ts';

test.each([0, 1, 3, 7])('%i bytes are too few to be a container', (length) => {
  expect(sniffContainer(Buffer.alloc(length, 0xff))).toBeUndefined();
});
