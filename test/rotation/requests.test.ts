import { expect, test } from '@jest/globals';
import type { Answer } from '../support/system.ts';
import { countRequests } from './requests.ts';

const answer = (status: number, reason = ''): Answer => ({
  status,
  body: { details: { reason } },
  headers: new Headers(),
  text: reason,
});
const created = answer(201);
const full = answer(503, 'inference_no_capacity');

test('a few creates for real workers may find no place, and more of them are too many', () => {
  const requests = countRequests();
  for (let count = 0; count < 9; count += 1) requests.observe('create real upload', created);
  requests.observe('create real upload', full);
  expect(requests.crowded()).toEqual([]);
  requests.observe('create real upload', full);
  expect(requests.crowded()).toEqual(['create real upload: 2 of 11 found no place']);
  expect(requests.failures).toEqual([]);
});

test.each(['create upload', 'create stream', 'create real images', 'read frames'])(
  'for "%s" no place is a failure, as no real worker is asked',
  (operation) => {
    const requests = countRequests();
    requests.observe(operation, full);
    expect(requests.failures).toHaveLength(1);
    expect(requests.crowded()).toEqual([]);
  },
);
