import { expect, test } from '@jest/globals';
import { policyHeader, standingHeader } from './rate-headers.ts';

test('the headers are lists of named items with integer parameters', () => {
  expect(
    policyHeader([
      { name: 'requests', quota: 200, windowS: 2 },
      { name: 'image_calls', quota: 20, unit: 'concurrent-requests' },
    ]),
  ).toBe('"requests";q=200;w=2, "image_calls";q=20;qu="concurrent-requests"');
  expect(
    standingHeader([
      { name: 'requests', remaining: 42, resetS: 1 },
      { name: 'image_calls', remaining: -1 },
    ]),
  ).toBe('"requests";r=42;t=1, "image_calls";r=0');
});
