import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sourceChanged } from '@vision/contracts/job-events';
import type { SourceChangedData } from '@vision/contracts/job-events';
import { topics } from '@vision/contracts/topics';
import { listDlq } from '@vision/kafka/dlq';
import { storeSource } from '../src/use-cases/store/store-source.ts';
import { newTaskId, startResults } from './support.ts';
import type { TestResults } from './support.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

let results: TestResults;

beforeAll(async () => {
  results = await startResults();
  await results.service.consumers.jobs.joined;
});
afterAll(() => results.stop());

const snapshotOf = (taskId: string, n: number, facts: Partial<SourceChangedData> = {}): SourceChangedData => ({
  job_id: taskId,
  attempt: 1,
  n,
  at_ms: 1_790_000_000_000 + n,
  since_ms: 1_790_000_000_000 + n,
  state: 'streaming',
  ...facts,
});

/** Publishes data unchanged; resolves when the consumer has processed it. */
async function deliver(key: string, data: object): Promise<unknown> {
  const id = randomUUID();
  const headers = { ce_id: id, ce_type: sourceChanged.type, ce_source: 'test', ce_specversion: '1.0' };
  await results.producer.publishRaw([{ topic: topics.jobs, key, value: JSON.stringify(data), headers }]);
  return untilSettled(results.service.consumers.jobs, id);
}

const listed = async (taskId: string) =>
  results.database.db('source_states').where({ task_id: taskId }).orderBy(['attempt', 'n']).select('n', 'state');

test('lists a state once, with any repeats and order of snapshots', async () => {
  const task = newTaskId();
  await deliver(task, snapshotOf(task, 1, { state: 'connecting' }));
  await deliver(task, snapshotOf(task, 3));
  await deliver(task, snapshotOf(task, 2, { state: 'reconnecting' }));
  await deliver(task, snapshotOf(task, 3));
  await deliver(task, snapshotOf(task, 4));
  expect(await listed(task)).toEqual([
    { n: 1, state: 'connecting' },
    { n: 3, state: 'streaming' },
  ]);
});

test.each([
  ['a state that does not exist', { state: 'dreaming' }],
  ['a reason that is no word', { reason: 'connect 10.0.0.7:554' }],
  ['a negative time', { at_ms: -1 }],
])('puts a snapshot with %s aside and goes on', async (_what, facts) => {
  const task = newTaskId();
  expect(await deliver(task, { ...snapshotOf(task, 1), ...facts })).toBe('dead-lettered');
  expect(await deliver(task, snapshotOf(task, 2))).toBe('handled');
  const letters = await listDlq(results.kafka.client, topics.jobs);
  expect(letters.filter(({ key }) => key === task)).toHaveLength(1);
});

test('keeps at most 1,000 states of a source, the long outages among them', async () => {
  const task = newTaskId();
  const { db } = results.database;
  await db.transaction((tx) => storeSource({ db: tx }, snapshotOf(task, 1, { state: 'connecting' })));
  await db.raw(
    `insert into source_states (task_id, attempt, n, at_ms, state)
     select :task, 1, n, :start::bigint + n * 1000 + case when n > 20 then 600000 else 0 end,
            case when n = 20 then 'reconnecting' when n % 2 = 0 then 'streaming' else 'connecting' end
       from generate_series(2, 1000) as n`,
    { task, start: 1_790_000_000_000 },
  );
  await db('sources').where({ task_id: task }).update({ states: 1_000 });
  await db.transaction((tx) => storeSource({ db: tx }, snapshotOf(task, 1_001, { since_ms: 1_790_002_000_000 })));
  const states = await listed(task);
  expect(states).toHaveLength(901);
  expect(states).toContainEqual({ n: 20, state: 'reconnecting' });
  expect(states.at(0)).toMatchObject({ n: 1 });
  expect(states.at(-1)).toMatchObject({ n: 1_001 });
});
