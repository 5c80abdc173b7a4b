import { expect, test } from '@jest/globals';
import { republishRequest } from './outbox.ts';

const request = { from: '2026-03-15T08:00:00Z', to: '2026-03-15T10:00:00Z', dry_run: true };

test.each([
  ['an instant of any offset', '2026-03-15T10:30:00+02:00', '2026-03-15T08:30:00.000Z'],
  ['an instant before there were events', '0000-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['an instant whose year in UTC has five digits', '9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59.999Z'],
])('%s is taken and brought to UTC', (_what, given, taken) => {
  expect(republishRequest.parse({ ...request, from: given }).from).toBe(taken);
});

test.each(['', 'soon', '2026-13-45T08:00:00Z', '2026-03-15', '2026-03-15T24:00:00Z'])(
  'what is no instant is refused: %j',
  (to) => {
    expect(republishRequest.safeParse({ ...request, to }).success).toBe(false);
  },
);

test.each(['::::::::::/1', '2026-13-45 08:00:00+00/1', '1/', '12345678901234567/1', '1/1 or true', ''])(
  'what no page gave is no place to go on from: %j',
  (after) => {
    expect(republishRequest.safeParse({ ...request, after }).success).toBe(false);
  },
);

test('the place that a page gives is taken', () => {
  expect(republishRequest.parse({ ...request, after: '1773568800123456/412' }).after).toBe('1773568800123456/412');
});
