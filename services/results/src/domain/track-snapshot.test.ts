import { expect, test } from '@jest/globals';
import { snapshotOf } from './track-snapshot.ts';
import type { SnapshotFacts } from './track-snapshot.ts';

const stored = {
  trackId: 'a1-7',
  attempt: 1,
  n: 2,
  seq: 31,
  frameTimeMs: 6_200,
  width: 180,
  height: 402,
  bytes: 18_240,
  objectKey: 'track-snapshots/x',
  storedAt: new Date('2026-03-15T08:00:00Z'),
};
const facts: SnapshotFacts = {
  stored: undefined,
  mode: 'tracks',
  frames: 40,
  bestScore: 900_000,
  threshold: 800_000,
  isActive: false,
  isAwaited: false,
  snapshotDays: 30,
  resultExpiresAt: new Date('2026-06-13T08:00:00Z'),
};
const stateOf = (changed: Partial<SnapshotFacts>) => {
  const shown = snapshotOf({ ...facts, ...changed });
  return shown.state === 'none' ? shown.reason : shown.state;
};

test.each<[string, Partial<SnapshotFacts>]>([
  ['available', { stored }],
  ['available', { stored, isActive: true }],
  ['expired', { stored: { ...stored, objectKey: null } }],
  ['not_supported', { mode: undefined, isActive: true }],
  ['snapshots_off', { mode: 'off', isActive: true }],
  ['pending', { isActive: true }],
  ['pending', { isActive: true, frames: 1 }],
  ['pending', { isAwaited: true }],
  ['too_short', { frames: 2, isAwaited: true }],
  ['below_score', { bestScore: 799_999, isAwaited: true }],
  ['not_taken', {}],
])('%s: %p', (state, changed) => {
  expect(stateOf(changed)).toBe(state);
});

test('an image expires after its days, and with the results of its task', () => {
  const expiresAt = (resultExpiresAt: Date) => {
    const shown = snapshotOf({ ...facts, stored, resultExpiresAt });
    return shown.state === 'available' ? shown.expiresAt.toISOString() : undefined;
  };
  expect(expiresAt(facts.resultExpiresAt)).toBe('2026-04-14T08:00:00.000Z');
  expect(expiresAt(new Date('2026-03-20T00:00:00Z'))).toBe('2026-03-20T00:00:00.000Z');
});
