import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { topics } from '@vision/contracts/topics';
import { createDb } from '@vision/shared/db/knex';
import { startLiveSource } from '../examples/live-source.ts';
import { Caller, form, jpeg, scene } from '../test/support/system.ts';
import { STORED_COUNTS } from '../test/support/stored-frames.ts';
import { results } from '../test/support/video.ts';
import type { Figure } from './figures.ts';
import { kafkaBytes } from './kafka-bytes.ts';
import { useOf } from './process-tree.ts';
import type { Use } from './process-tree.ts';

export const name = 'sizing';

const root = join(import.meta.dirname, '..');
const services = ['gateway', 'tasks', 'images', 'results', 'quota', 'notify', 'inference'];
const programs = [...services, 'postgres', 'kafka', 's3', 'redis'];
const WINDOW_MS = 60_000;
const PICTURES = 100;
const LANES = 4;
const MiB = 1024 * 1024;
const STREAMS = 2;

/**
 * What docs/sizing.md calculates with: memory of each service at rest and at work, processor time for a live stream and
 * for a picture, bytes that frames take in PostgreSQL and Kafka, connections to PostgreSQL.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const caller = await Caller.create({ video_tasks_per_day: 100, images_per_day: 10_000, requests_per_second: 1_000 });
  const idle = await usedIn(() => delay(20_000));
  const pictures = await usedIn(() => detectPictures(caller));
  const streams = await watchStreams(caller);
  return {
    figures: [
      ...programs.map((program) => memory(`${program}, at rest`, idle, program)),
      ...services.map((program) => memory(`${program}, images from ${LANES} clients`, pictures, program)),
      ...services.map((program) => memory(`${program}, ${STREAMS} streams`, streams.use, program)),
      ...programs.map((program) => restingCpu(program, idle)),
      ...programs.map((program) => cpu(`${program}, per image`, { program, idle, busy: pictures, times: PICTURES })),
      ...programs.map((program) =>
        cpu(`${program}, per frame`, { program, idle, busy: streams.use, times: streams.frames }),
      ),
      ...streams.figures,
      ...(await connections()),
    ],
  };
}

interface Uses {
  seconds: number;
  of: Map<string, { from: Use; to: Use }>;
}

/** The use of every program before and after the work. */
async function usedIn(work: () => Promise<unknown>): Promise<Uses> {
  const from = new Map(programs.map((program) => [program, useOf(program)]));
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1000;
  const both = programs.map((program) => [program, { from: from.get(program) as Use, to: useOf(program) }] as const);
  return { seconds, of: new Map(both) };
}

function memory(name: string, uses: Uses, program: string): Figure {
  return { name, value: uses.of.get(program)?.to.memoryMiB ?? 0, unit: 'MiB' };
}

const cpuOf = (uses: Uses, program: string): number => {
  const use = uses.of.get(program);
  return use ? (use.to.cpuS - use.from.cpuS) * 1000 : 0;
};

function restingCpu(program: string, idle: Uses): Figure {
  return { name: `${program}, at rest, processor time`, value: cpuOf(idle, program) / idle.seconds, unit: 'ms/s' };
}

/** What the work cost beyond the rest of the same length. */
function cpu(
  name: string,
  { program, idle, busy, times }: { program: string; idle: Uses; busy: Uses; times: number },
): Figure {
  const atRest = (cpuOf(idle, program) / idle.seconds) * busy.seconds;
  return { name: `${name}, processor time`, value: Math.max(0, cpuOf(busy, program) - atRest) / times, unit: 'ms' };
}

async function detectPictures(caller: Caller): Promise<void> {
  const street = await readFile(join(root, 'examples/street.jpg'));
  let left = PICTURES;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await caller.detect(form(jpeg(street), scene('person_vehicle')));
      if (answer.status !== 201) throw new Error(answer.text);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

/** Live streams for a minute, each read by a caller. */
async function watchStreams(caller: Caller) {
  const source = await startLiveSource({ video: join(root, 'examples/street.mp4') });
  const db = openDatabase('vision_results');
  try {
    const tasks = await Promise.all(Array.from({ length: STREAMS }, () => startStream(caller, source.url)));
    await Promise.all(tasks.map((task) => firstFrame(caller, task)));
    const before = { table: await frameBytes(db), log: kafkaBytes(topics.frames), count: await framesStored(db) };
    let cursors = tasks.map(() => '');
    const use = await usedIn(async () => {
      const until = performance.now() + WINDOW_MS;
      while (performance.now() < until) {
        cursors = await Promise.all(tasks.map((task, index) => nextPage(caller, task, cursors[index] ?? '')));
        await delay(1_000);
      }
    });
    const frames = (await framesStored(db)) - before.count;
    const inTable = ((await frameBytes(db)) - before.table) / frames;
    const inLog = (kafkaBytes(topics.frames) - before.log) / frames;
    for (const task of tasks) await caller.stop(task);
    const rate = (frames * 1000) / WINDOW_MS / STREAMS;
    return {
      use,
      frames,
      figures: [
        { name: 'frames of a stream', value: rate, unit: '1/s' },
        { name: 'PostgreSQL, per frame, indexes included', value: inTable, unit: 'bytes' },
        { name: 'Kafka, per frame and replica', value: inLog, unit: 'bytes' },
        { name: 'PostgreSQL, per stream and day', value: (inTable * rate * 86_400) / MiB, unit: 'MiB' },
        { name: 'Kafka, per stream and day and replica', value: (inLog * rate * 86_400) / MiB, unit: 'MiB' },
      ],
    };
  } finally {
    await db.destroy();
    source.close();
  }
}

async function startStream(caller: Caller, url: string): Promise<string> {
  const { body, text } = await caller.createStream({ scene_code: 'person_vehicle', stream_url: url });
  if (typeof body['task_id'] !== 'string') throw new Error(text);
  return body['task_id'];
}

async function firstFrame(caller: Caller, task: string): Promise<void> {
  while ((await results(caller, task, '?limit=1')).items.length === 0) await delay(200);
}

async function nextPage(caller: Caller, task: string, cursor: string): Promise<string> {
  const page = await results(caller, task, `?limit=500${cursor ? `&cursor=${cursor}` : ''}`);
  return page.resume_cursor;
}

function openDatabase(database: string) {
  const url = new URL(process.env['DATABASE_URL'] ?? '');
  url.pathname = `/${database}`;
  return createDb({ url: url.href, poolMax: 1, applicationName: 'bench', statementTimeoutMs: 60_000 });
}

type Db = ReturnType<typeof openDatabase>;

async function framesStored(db: Db): Promise<number> {
  const { rows } = await db.raw<{ rows: { frames: string }[] }>(
    `select coalesce(sum(frames), 0) as frames from ${STORED_COUNTS} as counts`,
  );
  return Number(rows[0]?.frames);
}

async function frameBytes(db: Db): Promise<number> {
  const { rows } = await db.raw<{ rows: { bytes: string }[] }>(
    `select sum(pg_total_relation_size(relid)) as bytes
       from (select relid from pg_partition_tree('frames') union all select relid from pg_partition_tree('segments')) as both_forms`,
  );
  return Number(rows[0]?.bytes);
}

/** Connections to PostgreSQL by service, of which each opens more when it is busy. */
async function connections(): Promise<Figure[]> {
  const db = openDatabase('postgres');
  try {
    const { rows } = await db.raw<{ rows: { service: string; count: string }[] }>(
      `select regexp_replace(datname, '^vision_', '') as service, count(*) from pg_stat_activity
        where datname like 'vision\\_%' and application_name <> 'bench' group by 1 order by 1`,
    );
    return rows.map(({ service, count }) => ({ name: `${service}, connections`, value: Number(count), unit: '' }));
  } finally {
    await db.destroy();
  }
}
