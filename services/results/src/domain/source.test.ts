import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { SourceChangedData } from '@vision/contracts/job-events';
import { applySnapshot } from './source.ts';
import type { Source } from './source.ts';

const LAST_FRAME_MS = 1_790_000_000_000;
const MINUTE_MS = 60_000;
const jobId = randomUUID();
const reported = (attempt: number, minute: number, facts: Partial<SourceChangedData>): SourceChangedData => ({
  job_id: jobId,
  attempt,
  n: 1,
  at_ms: LAST_FRAME_MS + minute * MINUTE_MS,
  since_ms: LAST_FRAME_MS,
  state: 'waiting',
  ...facts,
});

/** Start times of the listed states of these snapshots. */
function listed(snapshots: readonly SourceChangedData[]) {
  let source: Source | undefined;
  return snapshots.flatMap((snapshot) => {
    const change = applySnapshot(source, snapshot);
    source = change?.source;
    return change?.listedAtMs === undefined ? [] : [[snapshot.state, change.listedAtMs - LAST_FRAME_MS]];
  });
}

test('a stream that is unavailable is listed as waiting once, from the report on, with any reasons of its failure', () => {
  expect(
    listed([
      reported(1, 1, { state: 'reconnecting', reason: 'timeout', since_ms: LAST_FRAME_MS + MINUTE_MS }),
      reported(1, 10, { n: 2, reason: 'timeout' }),
      reported(2, 11, { reason: 'connection_failed' }),
      reported(3, 12, { reason: 'not_found' }),
      reported(4, 13, { state: 'streaming', since_ms: LAST_FRAME_MS + 13 * MINUTE_MS }),
    ]),
  ).toEqual([
    ['reconnecting', MINUTE_MS],
    ['waiting', 10 * MINUTE_MS],
    ['streaming', 13 * MINUTE_MS],
  ]);
});

test('another reason to reconnect is listed', () => {
  const lost = (minute: number, reason: string) =>
    reported(1, minute, { n: minute, state: 'reconnecting', reason, since_ms: LAST_FRAME_MS + minute * MINUTE_MS });
  expect(listed([lost(1, 'timeout'), lost(2, 'not_found')])).toHaveLength(2);
});
