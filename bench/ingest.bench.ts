import { finished } from 'node:stream/promises';
import pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { frameProduced } from '@vision/shared/contracts/frame-events';
import type { FrameData } from '@vision/shared/contracts/frame-events';
import { topics } from '@vision/shared/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { startBatchConsumer } from '@vision/shared/messaging/batch-consumer';
import { createProducer } from '@vision/shared/messaging/producer';
import { testKafka } from '@vision/shared/testing/kafka';
import type { TestKafka } from '@vision/shared/testing/kafka';
import { frameEvents, frameHandler } from '../services/results/src/consumers/frames.ts';
import { migrations } from '../services/results/src/db/migrations/list.ts';
import { createSignals } from '../services/results/src/signals.ts';
import { createPartitionKeeper } from '../services/results/src/use-cases/keep-partitions.ts';
import { median, timed } from './figures.ts';
import type { Figure } from './figures.ts';
import { scratchDatabase } from './scratch-database.ts';
import type { ScratchDatabase } from './scratch-database.ts';
import { syntheticFrame, syntheticTaskId } from './synthetic-frames.ts';

export const name = 'ingest';

const TASKS = 12;
const FRAMES_A_TASK = 1_000;
const OBJECTS = 20;
const ROUNDS = 4;
const TOTAL = TASKS * FRAMES_A_TASK;

/**
 * Frames from Kafka into the partitioned table, the way the service does it, against one COPY of the same rows (prepared beforehand) into
 * a table like it, with the same key and compression. Alternating rounds; the topic is filled once.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  process.env['TEST_KAFKA_BROKERS'] ??= process.env['KAFKA_BROKERS'];
  const database = await scratchDatabase(migrations, 10);
  const kafka = await testKafka({ topics: [topics.frames], partitions: 6 });
  try {
    await publish(kafka);
    const ingest: number[] = [];
    const copy: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const ingestMs = await ingestAll(database, kafka, round);
      const copyMs = await copyAll(database);
      // The first round warms up both.
      if (round === 0) continue;
      ingest.push(ingestMs);
      copy.push(copyMs);
    }
    const ratios = ingest.map((ms, index) => (copy[index] ?? 0) / ms);
    return {
      figures: [
        {
          name: `frames of ${OBJECTS} objects, Kafka to Postgres`,
          value: (TOTAL * 1000) / median(ingest),
          unit: 'frames/s',
        },
        { name: 'the same rows by one COPY', value: (TOTAL * 1000) / median(copy), unit: 'frames/s' },
        { name: 'ingest over COPY', value: median(ratios), unit: 'ratio', target: '≥ 0.4' },
      ],
    };
  } finally {
    await kafka.close();
    await database.drop();
  }
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
  await db.raw('truncate frames, ingests');
  const handle = frameHandler({
    db,
    partitions: createPartitionKeeper(db, 90),
    signals: createSignals(createLogger('bench', 'silent')),
    wakeRelay: () => undefined,
  });
  let stored = 0;
  let done: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    done = resolve;
  });
  const consumer = startBatchConsumer({
    kafka: kafka.client,
    groupId: `bench-${round}`,
    topic: topics.frames,
    definitions: frameEvents,
    handle: async (events) => {
      await handle(events);
      stored += events.length;
      if (stored >= TOTAL) done();
    },
    onFatal: (error) => {
      throw error;
    },
  });
  await consumer.joined;
  const ms = await timed(() => all);
  await consumer.stop();
  return ms;
}

async function copyAll({ db, url }: ScratchDatabase): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('drop table if exists bare; create table bare (like frames including all)');
  const columns = 'day, task_id, seq, attempt, position, frame_time_ms, width, height, objects';
  const rows = await db('frames').select<Record<string, unknown>[]>(
    columns.split(', ').map((column) => db.raw(`${column}::text`)),
  );
  const text = rows.map((row) => Object.values(row).map(escaped).join('\t') + '\n').join('');
  const ms = await timed(async () => {
    const stream = client.query(copyStreams.from(`copy bare (${columns}) from stdin`));
    stream.end(text);
    await finished(stream);
  });
  await client.end();
  if (rows.length !== TOTAL) throw new Error(`${rows.length} of ${TOTAL} frames were stored`);
  return ms;
}

const escaped = (value: unknown) => String(value).replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
