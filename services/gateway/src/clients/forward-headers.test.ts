import { expect, test } from '@jest/globals';
import { responseHeaders } from './forward-headers.ts';

test('the cost of an answer that a service reports does not reach the caller', () => {
  const told = ['X-Processor-Time-Ms', '12,2000', 'X-Refused-Pictures', '1', 'Content-Type', 'application/json'];
  expect(responseHeaders(told)).toEqual({ 'content-type': 'application/json' });
});
