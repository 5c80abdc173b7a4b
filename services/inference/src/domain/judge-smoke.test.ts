import { expect, test } from '@jest/globals';
import { scoreSmoke } from './judge-smoke.ts';
import type { SmokeEvidence } from './judge-smoke.ts';

const smoke: SmokeEvidence = {
  lasting: 0.8,
  stays: 0.9,
  hardness: 0.4,
  outline: 0.2,
  detailLeft: 0.5,
  growth: 1.6,
  rise: 0.3,
  aside: 0.05,
  activity: 3,
  haste: 0.1,
  width: 0.3,
};

test.each<[string, Partial<SmokeEvidence>]>([
  ['comes and goes', { lasting: 0.1 }],
  ['leaves where it was', { stays: 0.2 }],
  ['has hard edges', { hardness: 0.9 }],
  ['has no edges at all', { hardness: 0.1 }],
  ['brings an outline of its own', { outline: 2 }],
  ['neither grows nor rises', { growth: 1, rise: 0 }],
  ['moves sideways', { aside: 1.2 }],
  ['never stirs', { activity: 0.2 }],
  ['hurries', { haste: 0.8 }],
  ['spans the picture from side to side', { width: 1 }],
])('what %s is no smoke', (_case, missing) => {
  expect(scoreSmoke(smoke, 12)).toBeGreaterThan(0.9);
  expect(scoreSmoke({ ...smoke, ...missing }, 12)).toBe(0);
});

test('a plume that has stopped to grow is smoke while it rises', () => {
  expect(scoreSmoke({ ...smoke, growth: 1 }, 12)).toBeGreaterThan(0.9);
});
