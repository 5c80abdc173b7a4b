import { expect, test } from '@jest/globals';
import { AT_ONCE } from '../../domain/delivery.ts';
import { createBusyCounts } from './busy-counts.ts';

test('an endpoint is full from its last slot on, until a moment after one became free', () => {
  let nowMs = 0;
  const busy = createBusyCounts(() => nowMs);
  const one = { endpoint_key: 'gate', subject: 'acme' };
  for (let count = 1; count < AT_ONCE.endpoint; count += 1) busy.begin(one);
  expect(busy.full()).toEqual({ endpoints: [], subjects: [] });
  busy.begin(one);
  expect(busy.full()).toEqual({ endpoints: ['gate'], subjects: [] });
  busy.end(one);
  expect(busy.full().endpoints).toEqual(['gate']);
  nowMs += 6_000;
  expect(busy.full().endpoints).toEqual([]);
  for (let count = AT_ONCE.endpoint - 1; count < AT_ONCE.subject; count += 1)
    busy.begin({ ...one, endpoint_key: `${count}` });
  expect(busy.full()).toEqual({ endpoints: [], subjects: ['acme'] });
});
