import { expect, test } from '@jest/globals';
import { LIVE_DEFAULTS } from '../decoding/live-frames.ts';
import type { JobRecord } from '../domain/job.ts';
import { parkMsOf } from './source-facts.ts';

const settings = { live: { ...LIVE_DEFAULTS, parkMs: 600_000 }, reopenMs: 60_000 };
const parkMs = (giveUpAfterS: number | undefined) => parkMsOf({ giveUpAfterS } as JobRecord, settings);

test.each([
  [undefined, undefined],
  [60, undefined],
  [601, undefined],
  [660, undefined],
  [719, undefined],
  [720, 600_000],
  [86_400, 600_000],
])('a stream that fails after %s s yields its slot after %s ms', (giveUpAfterS, expected) => {
  expect(parkMs(giveUpAfterS)).toBe(expected);
});
