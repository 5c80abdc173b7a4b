import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { frameProduced, jobEnded, segmentProduced } from '@vision/contracts/frame-events';
import { encodeFrameSegment } from '@vision/contracts/segments/frame-segment';
import type { ResultsCompleted } from '@vision/contracts/task-events';
import { taskResultsCompleted } from '@vision/contracts/task-events';
import { topics } from '@vision/contracts/topics';
import { createBatchConsumer } from '@vision/kafka/batch-consumer';
import { createConsumer } from '@vision/kafka/consumer';
import type { EventConsumer } from '@vision/kafka/consumer';
import { listDlq, replayDlq } from '@vision/kafka/dlq';
import { IDLE_MS } from '@vision/kafka/dlq-records';
import { on } from '@vision/kafka/subscription';
import { rememberTables } from '@vision/shared/testing/lost-commits';
import { until } from '@vision/shared/testing/until';
import { frameEvents, frameHandler } from '../src/consumers/frames.ts';
import { createSignals } from '../src/signals.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { frame, logger, mark, newTaskId, noRules, startResults, storedFrames, testSettings } from './support.ts';
import type { TestResults } from './support.ts';
import { untilSettled } from '@vision/kafka/testing/settled';

let results: TestResults;
let announcements: EventConsumer;
const completed: ResultsCompleted[] = [];

beforeAll(async () => {
  results = await startResults();
  announcements = createConsumer({
    db: results.database.db,
    kafka: results.kafka.client,
    groupId: 'test-announcements',
    subscriptions: [on(taskResultsCompleted, async ({ data }) => void completed.push(data))],
    onFatal: (error) => logger.fatal(error),
  });
  announcements.start();
  await Promise.all([results.service.consumers.frames.joined, announcements.joined]);
});
afterAll(async () => {
  await announcements.stop();
  await results.stop();
});

const storedSeqs = async (taskId: string): Promise<number[]> =>
  (await storedFrames(results.database.db, taskId)).map(({ seq }) => seq);
const settled = (id: string) => untilSettled(results.service.consumers.frames, id);

test('when the marker is stored, the end of the results is announced once', async () => {
  const task = newTaskId();
  const events = [frame(task, 0), frame(task, 1), frame(task, 2), mark(task)];
  await results.deliver(events);
  await results.deliver(events);
  await until(() => completed.some(({ task_id: id }) => id === task));
  const fence = newTaskId();
  await results.deliver([mark(fence)]);
  await until(() => completed.some(({ task_id: id }) => id === fence));
  expect(completed.filter(({ task_id: id }) => id === task)).toEqual([
    { task_id: task, attempt: 1, status: 'succeeded', frames_stored: 3 },
  ]);
});

test('fields and versions of an event that this service does not know are ignored', async () => {
  const task = newTaskId();
  const later = { ...frame(task, 0), of_a_later_version: true };
  const messages = [
    { id: randomUUID(), type: frameProduced.type, data: later },
    { id: randomUUID(), type: 'vision.frame.v2', data: { ...later, seq: 1 } },
    { id: randomUUID(), type: frameProduced.type, data: frame(task, 2) },
  ];
  await results.producer.publishRaw(
    messages.map(({ id, type, data }) => ({
      topic: topics.frames,
      key: task,
      value: JSON.stringify(data),
      headers: { ce_id: id, ce_type: type, ce_source: 'test', ce_specversion: '1.0' },
    })),
  );
  expect(await Promise.all(messages.map(({ id }) => settled(id)))).toEqual(['handled', 'skipped', 'handled']);
  expect(await storedSeqs(task)).toEqual([0, 2]);
});

test('poison goes to the dead letters with a reason and the frames around it are stored', async () => {
  const task = newTaskId();
  const messages = [
    { name: 'good-1', value: JSON.stringify(frame(task, 0)) },
    { name: 'no-json', value: '{"job_id":' },
    { name: 'no-frame', value: JSON.stringify({ ...frame(task, 1), seq: -1 }) },
    { name: 'no-task', value: JSON.stringify(frame(randomUUID(), 1)) },
    { name: 'seq-too-large', value: JSON.stringify(frame(task, 2 ** 31)) },
    { name: 'good-2', value: JSON.stringify(frame(task, 2)) },
  ].map(({ name, value }) => ({
    topic: topics.frames,
    key: task,
    value,
    headers: { ce_id: name, ce_type: frameProduced.type, ce_source: 'test', ce_specversion: '1.0' },
  }));
  await results.producer.publishRaw(messages);
  const outcomes = await Promise.all(messages.map(({ headers }) => settled(headers.ce_id)));
  expect(outcomes).toEqual(['handled', 'dead-lettered', 'dead-lettered', 'dead-lettered', 'dead-lettered', 'handled']);
  expect(await storedSeqs(task)).toEqual([0, 2]);
  const letters = await listDlq(results.kafka.client, topics.frames);
  expect(new Map(letters.map(({ eventId, reason }) => [eventId, reason]))).toEqual(
    new Map([
      ['no-json', 'invalid_json'],
      ['no-frame', 'invalid_data'],
      ['no-task', 'handler_failed'],
      ['seq-too-large', 'handler_failed'],
    ]),
  );
});

const segmentOf = (name: string, key: string, value: Buffer) => ({
  topic: topics.frames,
  key,
  value,
  headers: { ce_id: name, ce_type: segmentProduced.type, ce_source: 'test', ce_specversion: '1.0' },
});

test('frames in segments are stored, and a segment that cannot be read becomes one dead letter', async () => {
  const task = newTaskId();
  const good = encodeFrameSegment([frame(task, 1), frame(task, 2), frame(task, 5)]);
  const damaged = Buffer.from(good);
  damaged[30] = (damaged[30] ?? 0) ^ 1;
  const messages = [
    segmentOf('whole', task, good),
    segmentOf('damaged', task, damaged),
    segmentOf('no-segment', task, Buffer.from(JSON.stringify(frame(task, 6)))),
    segmentOf('no-task-of-ours', task, encodeFrameSegment([frame(randomUUID(), 7)])),
    segmentOf('again', task, good),
    segmentOf('next', task, encodeFrameSegment([frame(task, 5), frame(task, 8)])),
  ];
  await results.producer.publishRaw(messages);
  const outcomes = await Promise.all(messages.map(({ headers }) => settled(headers.ce_id)));
  expect(outcomes).toEqual(['handled', 'dead-lettered', 'dead-lettered', 'dead-lettered', 'handled', 'handled']);
  expect(await storedSeqs(task)).toEqual([1, 2, 5, 8]);
  const letters = (await listDlq(results.kafka.client, topics.frames)).filter(({ key }) => key === task);
  expect(letters.map(({ eventId, reason }) => [eventId, reason])).toEqual([
    ['damaged', 'invalid_data'],
    ['no-segment', 'invalid_data'],
    ['no-task-of-ours', 'handler_failed'],
  ]);
  expect(letters[0]?.detail).toContain('its checksum is wrong');
  expect(letters[0]?.value).toBe(`base64:${damaged.toString('base64')}`);
});

test('a segment as workers publish it needs no header but its type, and one that became a dead letter can be replayed', async () => {
  const task = newTaskId();
  const { kafka, producer } = results;
  const publish = (data: Uint8Array) =>
    producer.publishBatch([{ ...segmentProduced, key: task, source: 'inference', data }]);
  const good = encodeFrameSegment([frame(task, 0), frame(task, 1)]);
  await publish(good);
  await publish(good.subarray(0, -1));
  await publish(encodeFrameSegment([frame(task, 2)]));
  await until(async () => (await storedSeqs(task)).length === 3);
  const ofTask = async () => (await listDlq(kafka.client, topics.frames)).filter(({ key }) => key === task);
  expect(await ofTask()).toMatchObject([{ type: segmentProduced.type, reason: 'invalid_data', eventId: undefined }]);
  await replayDlq(kafka.client, topics.frames, { idleMs: IDLE_MS });
  await until(async () => (await ofTask()).length === 2);
  expect(await storedSeqs(task)).toEqual([0, 1, 2]);
});

test('while the database is unavailable the consumer waits, and nothing is lost', async () => {
  const task = newTaskId();
  await results.deliver([frame(task, 0)]);
  const server = new Client({ connectionString: process.env['TEST_DATABASE_URL'] });
  await server.connect();
  const name = new URL(results.database.url).pathname.slice(1);
  const ids: string[] = [];
  try {
    await server.query(`alter database ${name} allow_connections false`);
    await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    for (const data of [frame(task, 1), frame(task, 2), mark(task)]) {
      const id = randomUUID();
      ids.push(id);
      const definition = 'seq' in data ? frameProduced : jobEnded;
      await results.producer.publish([{ ...definition, key: task, source: 'inference', data, id }]);
    }
    // Liveness does not depend on the outage.
    expect((await fetch(`http://127.0.0.1:${results.service.healthPort}/health/live`)).status).toBe(200);
  } finally {
    await server.query(`alter database ${name} allow_connections true`);
    await server.end();
  }
  expect(await Promise.all(ids.map(settled))).toEqual(['handled', 'handled', 'handled']);
  expect(await storedSeqs(task)).toEqual([0, 1, 2]);
});

test('frames and end-of-stream markers that the database lost with its last commits are read again and stored once', async () => {
  const task = newTaskId();
  const { db } = results.database;
  await results.deliver([frame(task, 0), frame(task, 1)]);
  const failOver = await rememberTables(db, ['frames', 'segments', 'ingests', 'outbox', 'consumer_positions']);
  await results.deliver([frame(task, 2), frame(task, 3), mark(task, { frames_published: 4 })]);
  await until(() => completed.some(({ task_id: id }) => id === task));
  await failOver();
  expect(await storedSeqs(task)).toEqual([0, 1]);
  const other = newTaskId();
  await results.deliver(Array.from({ length: 2 }, () => frame(other, 0)));
  await results.deliver([frame(task, 4)]);
  await until(async () => (await storedSeqs(task)).length === 5);
  expect(await storedSeqs(task)).toEqual([0, 1, 2, 3, 4]);
  expect(await db('ingests').where({ task_id: task }).first('stored', 'end_status')).toEqual({
    stored: 5,
    end_status: 'succeeded',
  });
});

test('the whole topic again from offset 0 changes nothing', async () => {
  const task = newTaskId();
  await results.deliver([frame(task, 0), frame(task, 1), mark(task)]);
  const { db } = results.database;
  const content = async (): Promise<unknown> => ({
    frames: await db('frames').select('*').orderBy(['task_id', 'seq']),
    segments: await db('segments').select('*').orderBy(['task_id', 'first_seq', 'id']),
    ingests: await db('ingests').select('task_id', 'attempt', 'stored', 'max_seq', 'end_status').orderBy('task_id'),
    events: await db('outbox').count(),
  });
  const before = await content();
  const again = createBatchConsumer({
    db,
    kafka: results.kafka.client,
    groupId: 'frames-from-the-start',
    topic: topics.frames,
    definitions: frameEvents,
    handle: frameHandler({
      partitions: createPartitionKeeper(db, 90),
      settings: testSettings,
      signals: createSignals(logger),
      wakeRelay: () => undefined,
      liveRules: noRules,
    }),
    onFatal: (error) => logger.fatal(error),
  });
  again.start();
  try {
    const ends = [0, 1].map((partition) => ({ partition, id: randomUUID() }));
    await results.producer.publishRaw(
      ends.map(({ partition, id }) => ({
        topic: topics.frames,
        partition,
        value: '{}',
        headers: { ce_id: id, ce_type: 'test.end', ce_source: 'test', ce_specversion: '1.0' },
      })),
    );
    await Promise.all(ends.map(({ id }) => untilSettled(again, id)));
  } finally {
    await again.stop();
  }
  expect(await content()).toEqual(before);
});
