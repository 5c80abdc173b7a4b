import { expect, test } from '@jest/globals';
import { responseHeaders } from './forward-headers.ts';

test('what a service tells of the cost of an answer is not told to the caller', () => {
  const told = ['X-Processor-Time-Ms', '12,2000', 'X-Refused-Pictures', '1', 'Content-Type', 'application/json'];
  expect(responseHeaders(told)).toEqual({ 'content-type': 'application/json' });
});
