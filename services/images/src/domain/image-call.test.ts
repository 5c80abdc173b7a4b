import { expect, test } from '@jest/globals';
import { refusedImages } from './image-call.ts';
import type { ImageFault, ImageOutcome } from './image-call.ts';

const entry = (outcome: ImageOutcome, seq: number) =>
  ({ seq, sha256: '00', bytes: 64, contentType: 'image/png', outcome }) as const;
const failed = (errorCode: ImageFault): ImageOutcome => ({ status: 'failed', objectKey: undefined, errorCode });
const succeeded: ImageOutcome = { status: 'succeeded', objectKey: 'a', size: { width: 1, height: 1 }, objects: [] };

test('only images that cannot be read are refused, not those that failed because a service was unavailable', () => {
  const outcomes = [
    failed('OP-TASK-REQUEST-INVALID'),
    succeeded,
    failed('OP-TASK-UPSTREAM-DOWN'),
    failed('OP-SYS-UNAVAILABLE'),
    failed('OP-TASK-REQUEST-INVALID'),
  ];
  expect(refusedImages(outcomes.map(entry))).toBe(2);
  expect(refusedImages([entry(succeeded, 0)])).toBe(0);
});
