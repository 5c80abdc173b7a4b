import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { fenceKey, parkJob, releaseJob, storeEnding } from '../src/db/held-jobs.ts';
import type { Fence } from '../src/db/held-jobs.ts';
import { renewJobs } from '../src/db/renew-jobs.ts';
import { migrations } from '../src/db/migrations/list.ts';
import { reportWorker } from '../src/db/workers.ts';

// So long that what a busy machine takes for a few statements is a small part of it.
const LEASE = { leaseMs: 1_000_000, timeoutMs: 180_000 };
const progress = { framesPublished: 7, lastSeq: 6, lastTimeMs: 1_200, ofAttempt: { count: 7 } };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(migrations);
});
afterAll(async () => {
  await database.drop();
});

/** A running job whose lease goes on for so many seconds. */
async function insertJob(leaseS: number): Promise<Fence> {
  const job = { job_id: randomUUID(), status: 'running', attempt: 3, claim: randomUUID() };
  const leaseUntil = database.db.raw('now() + make_interval(secs => ?)', [leaseS]);
  await database.db('jobs').insert({ ...job, lease_until: leaseUntil });
  return { jobId: job.job_id, attempt: job.attempt, claim: job.claim };
}

/** Identifies a version of a row: it changes with every update, also with one that changes nothing. */
async function versionOf({ jobId }: { jobId: string }): Promise<string> {
  const { rows } = await database.db.raw<{ rows: { version: string }[] }>(
    'select xmin::text as version from jobs where job_id = ?',
    [jobId],
  );
  return rows[0]?.version ?? '';
}

test('a look at a job whose lease is fresh writes nothing, and tells what is left of the lease', async () => {
  const job = await insertJob(900);
  const before = await versionOf(job);
  const seen = (await renewJobs(database.db, [{ ...job, progress: undefined }], LEASE)).get(fenceKey(job));
  expect(seen?.status).toBe('running');
  expect(seen?.leaseLeftMs).toBeGreaterThan(800_000);
  expect(seen?.leaseLeftMs).toBeLessThanOrEqual(900_000);
  expect(await versionOf(job)).toBe(before);
});

test('a lease of which a good part is over is extended to its full length', async () => {
  const job = await insertJob(700);
  const seen = await renewJobs(database.db, [{ ...job, progress: undefined }], LEASE);
  expect(seen.get(fenceKey(job))?.leaseLeftMs).toBe(1_000_000);
});

test('how far jobs are is stored in the same statement, also where the lease is fresh', async () => {
  const [fresh, old] = [await insertJob(900), await insertJob(200)];
  const seen = await renewJobs(
    database.db,
    [fresh, old].map((job) => ({ ...job, progress })),
    LEASE,
  );
  expect(seen.get(fenceKey(fresh))?.leaseLeftMs).toBeLessThanOrEqual(900_000);
  expect(seen.get(fenceKey(old))?.leaseLeftMs).toBe(1_000_000);
  const rows = await database
    .db('jobs')
    .whereIn('job_id', [fresh.jobId, old.jobId])
    .select('frames_published', 'last_seq');
  expect(rows).toEqual([
    { frames_published: 7, last_seq: 6 },
    { frames_published: 7, last_seq: 6 },
  ]);
});

test('a renewal that comes behind the ending changes nothing of what the ending has stored', async () => {
  const job = await insertJob(900);
  const ofAttempt = { count: 60 };
  const counted = { framesPublished: 60, lastSeq: 59, lastTimeMs: 11_800, ofAttempt };
  const ending = { status: 'succeeded' as const, attempt: job.attempt, frames: ofAttempt };
  await storeEnding(database.db, job, { ending, progress: counted });
  const late = { framesPublished: 59, lastSeq: 58, lastTimeMs: 11_600, ofAttempt: { count: 59 } };
  const seen = await renewJobs(database.db, [{ ...job, progress: late }], LEASE);
  expect(seen.has(fenceKey(job))).toBe(true);
  const row: unknown = await database
    .db('jobs')
    .where({ job_id: job.jobId })
    .first('frames_published', 'last_seq', 'last_time_ms');
  expect(row).toEqual({ frames_published: 60, last_seq: 59, last_time_ms: 11_800 });
});

test('a job that another attempt has is not told of, and neither its lease nor its progress changes', async () => {
  const taken = await insertJob(200);
  const fresh = await insertJob(900);
  const before = await versionOf(taken);
  const late = [taken, fresh].map((job) => ({ ...job, attempt: 2, progress }));
  const looked = [taken, fresh].map((job) => ({ ...job, attempt: 2, progress: undefined }));
  expect((await renewJobs(database.db, late, LEASE)).size).toBe(0);
  expect((await renewJobs(database.db, looked, LEASE)).size).toBe(0);
  expect(await versionOf(taken)).toBe(before);
});

test('a renewal that comes after the release leaves the job to other workers', async () => {
  const job = await insertJob(900);
  await releaseJob(database.db, job, progress);
  const before = await versionOf(job);
  expect(await renewJobs(database.db, [{ ...job, progress }], LEASE)).toEqual(new Map());
  expect(await versionOf(job)).toBe(before);
});

test('a renewal that waited for the commit of another one returns the jobs that both hold', async () => {
  const job = { ...(await insertJob(200)), progress: undefined };
  const slow = await database.db.transaction();
  await renewJobs(slow, [job], LEASE);
  const second = renewJobs(database.db, [job], LEASE);
  await until(async () => {
    const { rows } = await database.db.raw<{ rows: unknown[] }>(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length === 1;
  });
  await slow.commit();
  expect((await second).get(fenceKey(job))?.status).toBe('running');
});

test('a lease that was taken while the clock was ahead ends like any other, and such a worker is gone', async () => {
  const { db } = database;
  const ahead = await insertJob(36_000);
  const worker = { id: randomUUID(), capacity: 1, livePlaces: 1, seenMs: 20_000, leaseMs: LEASE.leaseMs };
  await reportWorker(db, { ...worker, id: randomUUID() });
  await db('workers').update({ seen_at: db.raw(`now() + interval '1 hour'`) });
  expect((await reportWorker(db, worker)).isAlone).toBe(false);
  expect((await reportWorker(db, worker)).isAlone).toBe(true);
  const seen = await renewJobs(db, [{ ...ahead, progress: undefined }], LEASE);
  expect(seen.get(fenceKey(ahead))?.leaseLeftMs).toBeLessThanOrEqual(LEASE.leaseMs);
});

test('a stream that is released again is unavailable since the same frame, and one with a new frame since that', async () => {
  const { db } = database;
  const hoursAgo = async (isNew: boolean) => {
    const job = await insertJob(900);
    const row = db('jobs').where({ job_id: job.jobId });
    const began = db.raw(`now() - interval '1 day'`);
    await row.clone().update({ away_since: began, parked_until: null, give_up_after_s: 3_600 });
    await parkJob(db, job, { awayMs: 600_000, isNew, reopenMs: 2 * 86_400_000, progress });
    const ago = (column: string) => db.raw(`round(extract(epoch from now() - ${column}) / 3600)::int as ${column}`);
    return row.clone().first<object>(ago('away_since'), ago('parked_until'));
  };
  expect(await hoursAgo(false)).toEqual({ away_since: 24, parked_until: 23 });
  expect(await hoursAgo(true)).toEqual({ away_since: 0, parked_until: -1 });
});
