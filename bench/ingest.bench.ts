import { finished } from 'node:stream/promises';
import pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { frameProduced } from '@vision/contracts/frame-events';
import type { FrameData } from '@vision/contracts/frame-events';
import { topics } from '@vision/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { createBatchConsumer } from '@vision/kafka/batch-consumer';
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

/**
 * Frames from Kafka into segments, the way the service does it, against one COPY of the same frames as rows, their text
 * prepared beforehand: into a plain table with the objects as jsonb, and into a table like the one of earlier
 * releases (text, lz4), which takes rows several times as fast. Alternating rounds; the topic is filled once.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const database = await scratchDatabase(migrations, 10);
  const kafka = await testKafka({ topics: [topics.frames], partitions: 6 });
  try {
    await publish(kafka);
    const rounds: { ingest: number; cpu: number; plain: number; tuned: number }[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const cpu = process.cpuUsage();
      const ingest = await ingestAll(database, kafka, round);
      const { user, system } = process.cpuUsage(cpu);
      const { plain, tuned } = await copyAll(database);
      // The first round warms everything up.
      if (round > 0) rounds.push({ ingest, cpu: user + system, plain, tuned });
    }
    return { figures: figuresOf(rounds) };
  } finally {
    await kafka.close();
    await database.drop();
  }
}

function figuresOf(rounds: { ingest: number; cpu: number; plain: number; tuned: number }[]): Figure[] {
  const middle = (of: (round: (typeof rounds)[number]) => number) => median(rounds.map(of));
  const rate = (ms: number) => (TOTAL * 1000) / ms;
  return [
    {
      name: `frames of ${OBJECTS} objects, Kafka to Postgres`,
      value: middle(({ ingest }) => rate(ingest)),
      unit: 'frames/s',
    },
    { name: 'CPU time of the service for a frame', value: middle(({ cpu }) => cpu / TOTAL), unit: 'us' },
    { name: 'COPY, objects as jsonb', value: middle(({ plain }) => rate(plain)), unit: 'frames/s' },
    {
      name: 'ingest over COPY',
      value: middle(({ plain, ingest }) => plain / ingest),
      unit: 'ratio',
      target: atLeast(0.4),
    },
    { name: "COPY into the service's own kind of table", value: middle(({ tuned }) => rate(tuned)), unit: 'frames/s' },
    { name: 'ingest over that COPY', value: middle(({ tuned, ingest }) => tuned / ingest), unit: 'ratio' },
  ];
}

async function publish(kafka: TestKafka): Promise<void> {
  const producer = createProducer(kafka.client);
  const ids = Array.from({ length: TASKS }, syntheticTaskId);
  for (let from = 0; from < FRAMES_A_TASK; from += 50) {
    const frames = ids.flatMap((id) =>
      Array.from({ length: 50 }, (_, index): FrameData => syntheticFrame(id, from + index, OBJECTS)),
    );
    await producer.publishBatch(frames.map((data) => ({ ...frameProduced, key: data.job_id, source: 'bench', data })));
  }
  await producer.stop();
}

async function ingestAll({ db }: ScratchDatabase, kafka: TestKafka, round: number): Promise<number> {
  await db.raw('truncate frames, segments, ingests');
  const handle = frameHandler({
    partitions: createPartitionKeeper(db, 90),
    settings: testSettings,
    signals: createSignals(createLogger('bench', 'silent')),
    wakeRelay: () => undefined,
    liveRules: { stored: () => undefined, stop: () => Promise.resolve() },
  });
  let stored = 0;
  const { promise: all, resolve: done } = Promise.withResolvers<void>();
  const consumer = createBatchConsumer({
    db,
    kafka: kafka.client,
    groupId: `bench-${round}`,
    concurrency: 4,
    topic: topics.frames,
    definitions: frameEvents,
    handle: async (events, meta) => {
      await handle(events, meta);
      stored += events.length;
      if (stored >= TOTAL) done();
    },
    onFatal: (error) => {
      throw error;
    },
  });
  consumer.start();
  await consumer.joined;
  const ms = await timed(() => all);
  await consumer.stop();
  return ms;
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
