import { expect, test } from '@jest/globals';
import { dayRangeOf, daysOf } from './day-range.ts';

const kept = { today: '2026-03-15', first: '2025-11-15' };

test.each([
  ['nothing', {}, { from: '2026-02-14', to: '2026-03-15' }],
  ['a first day', { from: '2026-03-01' }, { from: '2026-03-01', to: '2026-03-15' }],
  ['a last day', { to: '2026-03-01' }, { from: '2026-01-31', to: '2026-03-01' }],
  ['one day', { from: '2026-03-01', to: '2026-03-01' }, { from: '2026-03-01', to: '2026-03-01' }],
  ['days to come', { from: '2026-03-14', to: '2026-03-20' }, { from: '2026-03-14', to: '2026-03-15' }],
  ['days no longer kept', { from: '2025-11-01', to: '2025-11-16' }, { from: '2025-11-15', to: '2025-11-16' }],
  ['only days to come', { from: '2026-03-16', to: '2026-03-20' }, undefined],
  ['only days no longer kept', { from: '2025-11-01', to: '2025-11-14' }, undefined],
])('asked for %s', (_name, asked, range) => {
  expect(dayRangeOf(asked, kept)).toEqual(range);
});

test('92 days can be asked for at once, and no more', () => {
  expect(dayRangeOf({ from: '2025-12-14', to: '2026-03-15' }, kept)).toEqual({ from: '2025-12-14', to: '2026-03-15' });
  const refused = () => dayRangeOf({ from: '2025-12-13', to: '2026-03-15' }, kept);
  expect(refused).toThrow('At most 92 days can be asked for at once, not 93.');
});

test('a range that ends before it begins is refused', () => {
  expect(() => dayRangeOf({ from: '2026-03-02', to: '2026-03-01' }, kept)).toThrow('from must not be later than to.');
  expect(() => dayRangeOf({ from: '2026-03-16' }, kept)).toThrow('from must not be later than today');
});

test('lists each day of a range, over the end of February too', () => {
  expect(daysOf({ from: '2028-02-28', to: '2028-03-01' })).toEqual(['2028-02-28', '2028-02-29', '2028-03-01']);
});
