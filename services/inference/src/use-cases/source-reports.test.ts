import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { OutgoingEvent } from '@vision/kafka/cloud-event';
import { createSourceReports } from './source-reports.ts';

const jobId = '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10';

function reportsTo(publishBatch: (events: OutgoingEvent[]) => Promise<void>) {
  const outcomes = { published: 0, failed: 0, dropped: 0 };
  let atMs = 0;
  const reports = createSourceReports({
    producer: { publishBatch, stop: () => Promise.resolve() },
    signals: { sourceReports: (outcome, count) => void (outcomes[outcome] += count) },
    now: () => (atMs += 60_000),
  });
  return { reports, outcomes };
}

test('a broker that never answers holds up neither polls nor frames, and memory stays bounded', async () => {
  const { reports, outcomes } = reportsTo(() => new Promise(() => undefined));
  const report = reports.open({ jobId, attempt: 1 });
  report.watch(() => ({ state: 'streaming' }));
  for (let poll = 0; poll < 1_500; poll += 1) reports.poll();
  report.dropped('fresher', 1);
  report.close();
  // One is on its way, a thousand wait.
  expect(outcomes).toEqual({ published: 0, failed: 0, dropped: 500 });
  await turn();
});

test('sends what waited once the broker takes it again, in order and under the key of the job', async () => {
  let isAway = true;
  const sent: OutgoingEvent[] = [];
  const { reports, outcomes } = reportsTo(async (events) => {
    if (isAway) throw new Error('no broker');
    sent.push(...events);
  });
  const report = reports.open({ jobId, attempt: 1 });
  report.watch(() => ({ state: 'connecting' }));
  for (let poll = 0; poll < 3; poll += 1) {
    reports.poll();
    await turn();
  }
  isAway = false;
  report.close();
  reports.poll();
  await turn();
  expect(sent.map(({ id }) => id)).toEqual([1, 2, 3, 4].map((n) => `${jobId}/source/1/${n}`));
  expect(sent.every(({ key }) => key === jobId)).toBe(true);
  expect(outcomes).toMatchObject({ published: 4, dropped: 0 });
});

test('an attempt that ended is reported no more', async () => {
  const sent: OutgoingEvent[] = [];
  const { reports } = reportsTo(async (events) => void sent.push(...events));
  const report = reports.open({ jobId, attempt: 1 });
  report.watch(() => ({ state: 'streaming' }));
  report.close();
  report.close();
  reports.poll();
  reports.poll();
  await turn();
  expect(sent).toHaveLength(1);
});
