import { finished } from 'node:stream/promises';
import type { Knex } from 'knex';
import pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { frameProduced, segmentProduced } from '@vision/contracts/frame-events';
import type { FrameData } from '@vision/contracts/frame-events';
import { encodeFrameSegment } from '@vision/contracts/segments/frame-segment';
import { topics } from '@vision/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { until } from '@vision/shared/testing/until';
import { createBatchConsumer } from '@vision/kafka/batch-consumer';
import type { OutgoingEvent } from '@vision/kafka/cloud-event';
import { createProducer } from '@vision/kafka/producer';
import { testKafka } from '@vision/kafka/testing/kafka';
import type { TestKafka } from '@vision/kafka/testing/kafka';
import { frameEvents, frameHandler } from '../services/results/src/consumers/frames.ts';
import { migrations } from '../services/results/src/db/migrations/list.ts';
import { createSignals } from '../services/results/src/signals.ts';
import { createPartitionKeeper } from '../services/results/src/use-cases/retain/keep-partitions.ts';
import { atLeast, median, timed } from './figures.ts';
import type { Figure } from './figures.ts';
import { scratchDatabase } from './scratch-database.ts';
import type { ScratchDatabase } from './scratch-database.ts';
import { turnIntoRows } from '../services/results/test/rows.ts';
import { testSettings } from '../services/results/test/support.ts';
import { syntheticFrame, syntheticTaskId } from './synthetic-frames.ts';

export const name = 'ingest';

const TASKS = 12;
const FRAMES_A_TASK = 1_000;
const OBJECTS = 20;
const ROUNDS = 3;
const TOTAL = TASKS * FRAMES_A_TASK;
/** What a worker publishes of a stream of 5 frames a second that waits 250 ms: five frames in four segments. */
const TOGETHER = [1, 1, 1, 2];

interface Round {
  /** Milliseconds of frames that travelled singly, and in segments. */
  single: number;
  segments: number;
  singleCpu: number;
  segmentsCpu: number;
  plain: number;
  tuned: number;
}

/**
 * Frames from Kafka into segments, the way the service does it, as single frames and as segments, against one COPY of
 * the same frames as rows, their text prepared beforehand: into a plain table with the objects as jsonb, and into a
 * table like the one of earlier releases (text, lz4), which takes rows several times as fast. Alternating rounds; the
 * topics are filled once.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const database = await scratchDatabase(migrations, 10);
  const [single, segments] = [await topicOf(singly), await topicOf(inSegments)];
  try {
    const rounds: Round[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const alone = await ingestAll(database, single, round);
      const together = await ingestAll(database, segments, round);
      const copies = await copyAll(database);
      // The first round warms everything up.
      if (round > 0)
        rounds.push({
          single: alone.ms,
          segments: together.ms,
          singleCpu: alone.cpu,
          segmentsCpu: together.cpu,
          ...copies,
        });
    }
    return { figures: figuresOf(rounds) };
  } finally {
    await Promise.all([single.close(), segments.close()]);
    await database.drop();
  }
}

function figuresOf(rounds: Round[]): Figure[] {
  const middle = (of: (round: Round) => number) => median(rounds.map(of));
  const rate = (ms: number) => (TOTAL * 1000) / ms;
  const frames = `frames of ${OBJECTS} objects`;
  return [
    { name: `${frames}, single, Kafka to Postgres`, value: middle(({ single }) => rate(single)), unit: 'frames/s' },
    {
      name: `${frames}, in segments, Kafka to Postgres`,
      value: middle(({ segments }) => rate(segments)),
      unit: 'frames/s',
    },
    { name: 'segments over single frames', value: middle(({ single, segments }) => single / segments), unit: 'ratio' },
    {
      name: 'CPU time of the service for a single frame',
      value: middle(({ singleCpu }) => singleCpu / TOTAL),
      unit: 'us',
    },
    {
      name: 'CPU time of the service for a frame in a segment',
      value: middle(({ segmentsCpu }) => segmentsCpu / TOTAL),
      unit: 'us',
    },
    { name: 'COPY, objects as jsonb', value: middle(({ plain }) => rate(plain)), unit: 'frames/s' },
    {
      name: 'ingest of single frames over COPY',
      value: middle(({ plain, single }) => plain / single),
      unit: 'ratio',
      target: atLeast(0.4),
    },
    { name: "COPY into the service's own kind of table", value: middle(({ tuned }) => rate(tuned)), unit: 'frames/s' },
    {
      name: 'ingest of single frames over that COPY',
      value: middle(({ tuned, single }) => tuned / single),
      unit: 'ratio',
    },
  ];
}

/** @param form what is published of so many frames of a task that follow each other */
async function topicOf(form: (frames: FrameData[]) => OutgoingEvent[]): Promise<TestKafka> {
  const kafka = await testKafka({ topics: [topics.frames], partitions: 6 });
  const producer = createProducer(kafka.client);
  const ids = Array.from({ length: TASKS }, syntheticTaskId);
  for (let from = 0; from < FRAMES_A_TASK; from += 50) {
    const events = ids.flatMap((id) =>
      form(Array.from({ length: 50 }, (_, index) => syntheticFrame(id, from + index, OBJECTS))),
    );
    await producer.publishBatch(events);
  }
  await producer.stop();
  return kafka;
}

const singly = (frames: FrameData[]): OutgoingEvent[] =>
  frames.map((data) => ({ ...frameProduced, key: data.job_id, source: 'bench', data }));

function inSegments(frames: FrameData[]): OutgoingEvent[] {
  const events: OutgoingEvent[] = [];
  for (let from = 0; from < frames.length;) {
    const run = frames.slice(from, from + (TOGETHER[events.length % TOGETHER.length] ?? 1));
    const [first] = run;
    events.push({ ...segmentProduced, key: first?.job_id ?? '', source: 'bench', data: encodeFrameSegment(run) });
    from += run.length;
  }
  return events;
}

async function ingestAll(
  { db }: ScratchDatabase,
  kafka: TestKafka,
  round: number,
): Promise<{ ms: number; cpu: number }> {
  await db.raw('truncate frames, segments, ingests');
  const before = process.cpuUsage();
  const handle = frameHandler({
    partitions: createPartitionKeeper(db, 90),
    settings: testSettings,
    signals: createSignals(createLogger('bench', 'silent')),
    wakeRelay: () => undefined,
    liveRules: { stored: () => undefined, stop: () => Promise.resolve() },
  });
  const consumer = createBatchConsumer({
    db,
    kafka: kafka.client,
    groupId: `bench-${round}`,
    concurrency: 4,
    topic: topics.frames,
    definitions: frameEvents,
    handle,
    onFatal: (error) => {
      throw error;
    },
  });
  consumer.start();
  await consumer.joined;
  const ms = await timed(() =>
    until(async () => (await storedIn(db)) === TOTAL, { timeoutMs: 120_000, intervalMs: 10 }),
  );
  await consumer.stop();
  const { user, system } = process.cpuUsage(before);
  return { ms, cpu: user + system };
}

async function storedIn(db: Knex): Promise<number> {
  const row = await db('ingests').sum<{ stored: string | null }>({ stored: 'stored' }).first();
  return Number(row?.stored ?? 0);
}

async function copyAll({ db, url }: ScratchDatabase): Promise<{ plain: number; tuned: number }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    drop table if exists tuned, plain;
    create table tuned (like frames including all);
    create table plain (like tuned including indexes);
    alter table plain alter column objects type jsonb using objects::jsonb;
    alter table plain alter column objects set compression pglz`);
  for (const taskId of await db('ingests').pluck<string[]>('task_id')) await turnIntoRows(db, taskId);
  const columns = 'day, task_id, seq, attempt, position, frame_time_ms, width, height, objects';
  const rows = await db('frames').select<Record<string, string>[]>(
    columns.split(', ').map((name) => db.raw(`${name}::text`)),
  );
  if (rows.length !== TOTAL) throw new Error(`${rows.length} of ${TOTAL} frames were stored`);
  const copy = async (table: string, objectsOf: (text: string) => string) => {
    const text = rows
      .map(({ objects = '', ...rest }) => `${Object.values(rest).join('\t')}\t${escaped(objectsOf(objects))}\n`)
      .join('');
    return timed(() => copyText(client, `copy ${table} (${columns}) from stdin`, text));
  };
  const plain = await copy('plain', (objects) => `[${objects.replaceAll('\n', ',')}]`);
  const tuned = await copy('tuned', (objects) => objects);
  await client.end();
  return { plain, tuned };
}

/** Sends the rows of a COPY; resolves when they are stored. */
async function copyText(connection: pg.Client, statement: string, text: string): Promise<void> {
  const stream = connection.query(copyStreams.from(statement));
  stream.end(text);
  await finished(stream);
}

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
