import type { Knex } from 'knex';
import { IDLE_POLL_MS } from '@vision/shared/db/due-work';
import { createDb } from '@vision/shared/db/knex';
import { inTransaction } from '@vision/shared/db/transaction';
import { taskChanged } from '@vision/contracts/task-events';
import { createLogger } from '@vision/shared/logger';
import { appendEvent } from '@vision/kafka/outbox';
import { eventsOf } from '@vision/kafka/outbox-history';
import type { EventDefinition } from '@vision/contracts/envelope';
import type { EventProducer } from '@vision/kafka/producer';
import { createRelay } from '@vision/kafka/relay';
import { republish } from '@vision/kafka/republish';
import { migrations } from '../services/tasks/src/db/migrations/list.ts';
import { atLeast, atMost, median, quantile, timed } from './figures.ts';
import type { Figure } from './figures.ts';
import { scratchDatabase } from './scratch-database.ts';

export const name = 'outbox';

/** Published events in the table: ROWS=6000000 are those of seven days at ten a second. */
const ROWS = Number(process.env['ROWS'] || 300_000);
/** Events that come while a transaction is left open, such as that of a backup: an hour at ten a second. */
const BEHIND = Number(process.env['BEHIND'] || 36_000);
const SAMPLES = 200;
const DAYS = 7;
/** The share of the rows that becomes too old while events go on. */
const OLD_SHARE = 0.1;
const PAGE = 1000;
const MIB = 2 ** 20;
const DAY_MS = 24 * 60 * 60 * 1000;

const logger = createLogger('bench', 'silent');
const example = exampleOf(taskChanged);

/**
 * What seven days of published events cost: room, the time from a commit to its publication with an empty table and a
 * full one, the removal of what is too old beside new events, and what operators ask of them. The producer stands for
 * Kafka and answers at once; all statements are those of the service, under its limits.
 */
export async function run() {
  const scratch = await scratchDatabase(migrations, 2);
  const upkeep = createDb({ url: scratch.url, poolMax: 2, applicationName: 'bench-upkeep', statementTimeoutMs: 0 });
  const db = createDb({ url: scratch.url, poolMax: 4, applicationName: 'bench-service' });
  try {
    // Cleaned by the bench, so that each figure is of a known state.
    await upkeep.raw('alter table outbox set (autovacuum_enabled = false)');
    const empty = await publicationTimes(db);
    await load(upkeep);
    await upkeep.raw('vacuum (analyze) outbox');
    const figures = await room(upkeep);
    const full = await publicationTimes(db);
    const behind = await behindTransaction(upkeep, () => publicationTimes(db));
    const afterwards = await publicationTimes(db);
    return {
      figures: [
        ...figures,
        { name: 'commit to publication, empty table, p50', value: median(empty), unit: 'ms' },
        { name: 'ratio, full over empty', value: median(full) / median(empty), unit: 'ratio', target: atMost(1.3) },
        {
          name: 'ratio, behind a transaction left open, over empty',
          value: median(behind) / median(empty),
          unit: 'ratio',
        },
        {
          name: 'ratio, after its end, over empty',
          value: median(afterwards) / median(empty),
          unit: 'ratio',
          target: atMost(1.3),
        },
        ...(await questions(db)),
        ...(await removal(db, upkeep)),
      ],
    };
  } finally {
    await db.destroy();
    await upkeep.destroy();
    await scratch.drop();
  }
}

/** Rows as they are after days of work: three events of each task, each published at its own instant. */
async function load(db: Knex): Promise<void> {
  const chunk = 250_000;
  for (let from = 0; from < ROWS; from += chunk) {
    await db.raw(
      `insert into outbox (event_id, topic, key, type, source, payload, traceparent, created_at, published_at)
       select gen_random_uuid(), :topic, key, :type, 'tasks', :payload::jsonb || jsonb_build_object('task_id', key),
              '00-' || md5(key) || '-00f067aa0ba902b7-01', at, at + interval '20 ms'
         from (select md5((n / 3)::text)::uuid::text as key,
                      now() - (:rows::bigint - n) * (make_interval(days => :days) / :rows) as at
                 from generate_series(:from::bigint, :to::bigint) as n) as made`,
      {
        topic: taskChanged.topic,
        type: taskChanged.type,
        payload: JSON.stringify(example),
        rows: ROWS,
        days: DAYS,
        from,
        to: Math.min(from + chunk, ROWS) - 1,
      },
    );
  }
}

async function room(db: Knex): Promise<Figure[]> {
  const { rows } = await db.raw<{ rows: { table_bytes: number; index_bytes: number; rows: number }[] }>(
    `select pg_table_size('outbox') as table_bytes, pg_indexes_size('outbox') as index_bytes,
            (select count(*) from outbox)::int as rows`,
  );
  const [size] = rows;
  if (!size) return [];
  return [
    { name: 'published events', value: size.rows, unit: '' },
    { name: 'table, of each event', value: size.table_bytes / size.rows, unit: 'B' },
    { name: 'indexes, of each event', value: size.index_bytes / size.rows, unit: 'B' },
    { name: 'all of it', value: (size.table_bytes + size.index_bytes) / MIB, unit: 'MiB' },
  ];
}

/**
 * Events that are stored and published while a transaction may still see the rows from before: nothing of them can be
 * cleaned up until its end.
 */
async function behindTransaction(db: Knex, measure: () => Promise<number[]>): Promise<number[]> {
  const open = await db.transaction({ isolationLevel: 'repeatable read' });
  await open.raw('select count(*) from outbox where published_at is null');
  const batch = 200;
  for (let done = 0; done < BEHIND; done += batch) {
    await db.raw(
      `insert into outbox (event_id, topic, key, type, source, payload)
       select gen_random_uuid(), :topic, gen_random_uuid()::text, :type, 'tasks', :payload::jsonb
         from generate_series(1, :batch::int)`,
      { topic: taskChanged.topic, type: taskChanged.type, payload: JSON.stringify(example), batch },
    );
    await db.raw('update outbox set published_at = now() where published_at is null');
  }
  const times = await measure();
  await open.rollback();
  return times;
}

/** A relay of the service whose events arrive at once. */
function startRelay(db: Knex, keepPublishedMs: number) {
  let arrived = Promise.withResolvers<void>();
  const producer = {
    publishTraced: (events: unknown[]) => {
      if (events.length > 0) arrived.resolve();
      return Promise.resolve();
    },
  } as EventProducer;
  const relay = createRelay({ db, producer, logger, intervalMs: IDLE_POLL_MS, keepPublishedMs });
  relay.start();
  return {
    /** Milliseconds from before an event is stored until it is given to Kafka. */
    publish: () =>
      timed(async () => {
        arrived = Promise.withResolvers();
        await inTransaction(db, (tx) =>
          appendEvent(tx, { ...taskChanged, key: example.task_id, source: 'tasks', data: example }),
        );
        relay.wake();
        await arrived.promise;
      }),
    stop: relay.stop,
  };
}

async function publicationTimes(db: Knex): Promise<number[]> {
  const relay = startRelay(db, 2 * DAYS * DAY_MS);
  const times: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) times.push(await relay.publish());
  await relay.stop();
  // The first ones wait for the lock and a connection.
  return times.slice(SAMPLES / 10);
}

/** What operators ask: all of it counted, a page to publish again, the events of one task. */
async function questions(db: Knex): Promise<Figure[]> {
  const producer = { publishTraced: () => Promise.resolve() };
  const range = { from: '2000-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z', limit: PAGE };
  const first = await republish({ db, producer }, { ...range, dry_run: false });
  const counting = await timed(() => republish({ db, producer }, { ...range, dry_run: true }));
  const page = await timed(() => republish({ db, producer }, { ...range, dry_run: false, after: first.next_cursor }));
  const history = await timed(() => eventsOf(db, example.task_id));
  return [
    { name: 'counting them all', value: counting, unit: 'ms' },
    { name: `a page of ${PAGE} to publish again`, value: page, unit: 'ms' },
    { name: `the ${SAMPLES * 3} events of one task`, value: history, unit: 'ms' },
  ];
}

/** The oldest rows become too old at once; new events are published one after the other meanwhile. */
async function removal(db: Knex, upkeep: Knex): Promise<Figure[]> {
  const keptMs = DAYS * DAY_MS * (1 - OLD_SHARE);
  const old = async () => {
    const { rows } = await upkeep.raw<{ rows: { count: number }[] }>(
      'select count(*)::int as count from outbox where published_at < now() - make_interval(secs => ?)',
      [keptMs / 1000],
    );
    return rows[0]?.count ?? 0;
  };
  const removed = await old();
  const from = performance.now();
  const relay = startRelay(db, keptMs);
  const times: number[] = [];
  do times.push(await relay.publish());
  while (times.length % SAMPLES !== 0 || (await old()) > removed / 100);
  const tookS = (performance.now() - from) / 1000;
  await relay.stop();
  const arriving = ROWS / ((DAYS * DAY_MS) / 1000);
  return [
    { name: 'removed', value: removed / tookS, unit: '1/s' },
    { name: 'ratio, removed over arriving', value: removed / tookS / arriving, unit: 'ratio', target: atLeast(10) },
    { name: 'commit to publication meanwhile, p50', value: median(times), unit: 'ms' },
    { name: 'commit to publication meanwhile, p99', value: quantile(times, 0.99), unit: 'ms' },
  ];
}

function exampleOf<T>({ type, doc }: EventDefinition<T>): T {
  if (!doc) throw new Error(`${type} has no example`);
  return doc.example;
}
