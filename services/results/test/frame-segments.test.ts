import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { frameProduced, jobEnded, segmentProduced } from '@vision/contracts/frame-events';
import type { FrameData, JobEndedData } from '@vision/contracts/frame-events';
import { encodeFrameSegment, splitIntoFrameSegments } from '@vision/contracts/segments/frame-segment';
import type { EventDefinition } from '@vision/contracts/envelope';
import type { ReceivedEvent } from '@vision/kafka/subscription';
import { decodeHeads } from '@vision/contracts/segments/head';
import { inTransaction } from '@vision/shared/db/transaction';
import { testMetrics } from '@vision/shared/testing/metrics';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { frameHandler } from '../src/consumers/frames.ts';
import { createSignals } from '../src/signals.ts';
import { createPartitionKeeper } from '../src/use-cases/retain/keep-partitions.ts';
import { frame, logger, mark, newTaskId, noRules, object, storedFrames, testResults, testSettings } from './support.ts';

const metrics = testMetrics();
let database: TestDatabase;
beforeAll(async () => {
  database = await testResults();
});
afterAll(() => database.drop());

/** Frames with consecutive numbers, or an end-of-stream marker, as a worker may publish them at any time. */
type Said =
  | { kind: 'run'; attempt: number; from: number; count: number; variant: number; isSegment: boolean }
  | { kind: 'end'; attempt: number; frames: JobEndedData['attempt_frames'] };

const attempt = fc.integer({ min: 1, max: 3 });
const said: fc.Arbitrary<Said> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      attempt,
      from: fc.nat(30),
      count: fc.integer({ min: 1, max: 12 }),
      // Rarely another frame with the same number: that is a conflict.
      variant: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) }),
      isSegment: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      attempt,
      frames: fc.option(fc.record({ count: fc.nat(20), first_seq: fc.nat(10), last_seq: fc.nat(30) }), {
        nil: undefined,
      }),
    }),
  },
);
/** The messages of each transaction. */
const history = fc.array(fc.array(said, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 });

function framesOf(task: string, { attempt: number, from, count, variant }: Said & { kind: 'run' }): FrameData[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = from + index;
    const objects = Array.from({ length: seq % 4 }, (_none, at) => object(at / 7, at % 2 === 0 ? 'person' : 'car'));
    return frame(task, seq, { attempt: number, frame_time_ms: seq * 200 + variant, is_live: seq % 9 > 0, objects });
  });
}

/** An event as the handler receives it: the sent data, parsed by the schema of its type. */
const receive = <T>({ type, schema }: EventDefinition<T>, key: string, sent: unknown): ReceivedEvent<unknown> => ({
  id: randomUUID(),
  type,
  source: 'inference',
  time: new Date(),
  key,
  data: schema.parse(sent),
});

function eventsOf(task: string, one: Said, mayBeSegments: boolean): ReceivedEvent<unknown>[] {
  if (one.kind === 'end')
    return [receive(jobEnded, task, mark(task, { attempt: one.attempt, attempt_frames: one.frames }))];
  const frames = framesOf(task, one);
  if (!one.isSegment || !mayBeSegments)
    return frames.map((data) => receive(frameProduced, task, JSON.parse(JSON.stringify(data))));
  return splitIntoFrameSegments(frames).map((run) => receive(segmentProduced, task, encodeFrameSegment(run)));
}

const handler = () =>
  frameHandler({
    partitions: createPartitionKeeper(database.db, 90),
    settings: testSettings,
    signals: createSignals(logger),
    wakeRelay: () => undefined,
    liveRules: noRules,
  });

const counted = ['frames_stored', 'frames_ignored', 'frame_conflicts', 'completed'];
const sums = async () => Promise.all(counted.map(async (name) => (await metrics.sumOf(`vision.results.${name}`)) ?? 0));

/** All stored data of a task, and the counts from storing it. */
async function outcome(transactions: Said[][], form: { mayBeSegments: boolean; deleted: boolean }) {
  const { db } = database;
  const task = newTaskId();
  const handle = handler();
  const before = await sums();
  for (const [index, batch] of transactions.entries()) {
    const events = batch.flatMap((one) => eventsOf(task, one, form.mayBeSegments));
    await handle(events, { transaction: (work) => inTransaction(db, work), isReread: false });
    if (form.deleted && index === 0) await db('ingests').where({ task_id: task }).update({ deleted_at: new Date() });
  }
  const after = await sums();
  const { task_id: _id, ...ingest } = (await db('ingests').where({ task_id: task }).first<object>()) as Record<
    string,
    unknown
  >;
  const frames = (await storedFrames(db, task)).map(({ seq, attempt: number, objects }) => [seq, number, objects]);
  const packed = await db('segments').where({ task_id: task }).pluck<Buffer[]>('heads');
  const heads = packed.flatMap((each) => decodeHeads(each)).sort((a, b) => a.seq - b.seq);
  const events = await db('outbox').where({ key: task }).orderBy('id').select<{ payload: object }[]>('payload');
  const json = (value: unknown) => JSON.stringify(value).replaceAll(task, 'task');
  return {
    ingest: json(withoutDates(ingest)),
    frames: json(frames),
    // With their times, sizes and positions in the order of storing.
    heads: json(heads),
    events: json(events.map(({ payload }) => payload)),
    counts: after.map((sum, at) => sum - (before[at] ?? 0)),
  };
}

const withoutDates = (row: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value instanceof Date ? 'a date' : value]));

test('segments, mixed with single frames, store exactly what the frames would have stored one by one', async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.nat(9), async (transactions, chance) => {
      const form = { deleted: chance === 0 };
      const singly = await outcome(transactions, { ...form, mayBeSegments: false });
      expect(await outcome(transactions, { ...form, mayBeSegments: true })).toEqual(singly);
    }),
    { numRuns: 60 },
  );
});
