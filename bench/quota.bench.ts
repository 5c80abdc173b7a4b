import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLogger } from '@vision/shared/logger';
import { migrations } from '../services/quota/src/db/migrations/list.ts';
import { createSignals } from '../services/quota/src/signals.ts';
import { reserve } from '../services/quota/src/use-cases/reserve.ts';
import { scratchDatabase } from './scratch-database.ts';
import type { ScratchDatabase } from './scratch-database.ts';
import { atLeast, median } from './figures.ts';
import type { Figure } from './figures.ts';

export const name = 'quota';

const CLIENTS = 8;
const SECONDS = 3;
const ROUNDS = 3;
const AUDIT_ROUNDS = 7;

/**
 * The use case of the service (ledger row, key check, counter) against pgbench driving only the conditional update of
 * the counter, with as many connections, on the same server, in alternating rounds.
 */
export async function run() {
  const database = await scratchDatabase(migrations, CLIENTS);
  try {
    const figures: Figure[] = [];
    for (const subjects of [1, 1000]) {
      const ours: number[] = [];
      const bare: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        bare.push(await updatesPerSecond(database, subjects));
        ours.push(await reservationsPerSecond(database, subjects));
      }
      const of = subjects === 1 ? 'one subject' : `${subjects} subjects`;
      figures.push(
        { name: `reservations, ${of}`, value: median(ours), unit: '1/s' },
        { name: `bare updates, ${of}`, value: median(bare), unit: '1/s' },
        // Measured: 0.49 and 0.42.
        {
          name: `ratio, ${of}`,
          value: median(ours) / median(bare),
          unit: 'ratio',
          target: atLeast(0.5),
          floor: atLeast(0.28),
        },
      );
    }
    return { figures: [...figures, ...(await costOfAudit(database))] };
  } finally {
    await database.drop();
  }
}

/** Triggers of the ledger write down which counters were touched; the same reservations with and without them. */
async function costOfAudit(database: ScratchDatabase): Promise<Figure[]> {
  const watched: number[] = [];
  const unwatched: number[] = [];
  for (let round = 0; round < AUDIT_ROUNDS; round += 1) {
    watched.push(await reservationsPerSecond(database, 1000));
    await switchTriggers(database, 'disable');
    unwatched.push(await reservationsPerSecond(database, 1000));
    await switchTriggers(database, 'enable');
  }
  return [
    { name: 'reservations without the triggers of the audit', value: median(unwatched), unit: '1/s' },
    {
      name: 'ratio with them over without',
      value: median(watched) / median(unwatched),
      unit: 'ratio',
      target: atLeast(0.95),
      floor: atLeast(0.8),
    },
  ];
}

async function switchTriggers({ db }: ScratchDatabase, to: 'enable' | 'disable'): Promise<void> {
  for (const table of ['quota_days', 'reservations']) await db.raw(`alter table ${table} ${to} trigger user`);
  // What the triggers wrote is taken out by the audit in service; here nobody does.
  await db.raw('truncate ledger_changes');
}

async function reservationsPerSecond({ db }: ScratchDatabase, subjects: number): Promise<number> {
  const deps = { db, signals: createSignals(createLogger('bench', 'silent')) };
  const end = Date.now() + SECONDS * 1000;
  let done = 0;
  const client = async () => {
    while (Date.now() < end) {
      const { outcome } = await reserve(deps, {
        id: newId(),
        subject: `subject-${Math.floor(Math.random() * subjects)}`,
        idempotencyKey: randomUUID(),
        kind: 'image',
        units: 1,
        limit: 2_000_000_000,
      });
      if (outcome !== 'granted') throw new Error(`unexpected outcome ${outcome}`);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return done / SECONDS;
}

/** Ids grow with time like those of the service, whose tasks are UUIDv7: a time and a random part. */
function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}/1`;
}

async function updatesPerSecond({ db, url }: ScratchDatabase, subjects: number): Promise<number> {
  await db.raw(
    `insert into quota_days (subject, kind, day, used)
     select 'bare-' || n, 'image', quota_today(), 0 from generate_series(1, ?::int) as n on conflict do nothing`,
    [subjects],
  );
  const folder = await mkdtemp(join(tmpdir(), 'vision-bench-'));
  const script = join(folder, 'update.sql');
  await writeFile(
    script,
    `\\set n random(1, ${subjects})
     update quota_days set used = used + 1
      where subject = 'bare-' || :n and kind = 'image' and day = quota_today() and used + 1 <= 2000000000;\n`,
  );
  try {
    const options = [
      '-n',
      '-M',
      'prepared',
      '-c',
      String(CLIENTS),
      '-j',
      '2',
      '-T',
      String(SECONDS),
      '-f',
      script,
      url,
    ];
    const { stdout } = await promisify(execFile)(await pgbench(), options);
    const rate = /tps = ([\d.]+) \(without/.exec(stdout)?.[1];
    if (rate === undefined) throw new Error(`pgbench said: ${stdout.slice(0, 500)}`);
    return Number(rate);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** On the path, or where Debian and its relatives keep the programs of a PostgreSQL version. */
async function pgbench(): Promise<string> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  return newest ? `/usr/lib/postgresql/${newest}/bin/pgbench` : 'pgbench';
}
