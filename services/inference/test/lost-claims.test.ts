import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { rememberTables } from '@vision/shared/testing/lost-commits';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { claimJobs, endSuspicion, retractDeaths } from '../src/db/claim-jobs.ts';
import { saveDrops } from '../src/db/drops.ts';
import {
  countShortage,
  fenceKey,
  finishJob,
  markRunning,
  raiseCeiling,
  recordRate,
  releaseJob,
  storeEnding,
} from '../src/db/held-jobs.ts';
import { renewJobs } from '../src/db/renew-jobs.ts';
import { findJobs } from '../src/db/jobs.ts';
import { migrations } from '../src/db/migrations/list.ts';
import type { JobRecord, StoredEnding } from '../src/domain/job.ts';

// A failover to an asynchronous standby lost the claim of one worker, and another has claimed the job since.
let database: TestDatabase;
let lost: JobRecord;
let holder: JobRecord;
const LEASE = { leaseMs: 60_000, timeoutMs: 5_000 };
const progress = { framesPublished: 7, lastSeq: 6, lastTimeMs: 1_200, ofAttempt: { count: 7 } };
const ending: StoredEnding = { status: 'succeeded', attempt: 1, frames: { count: 7, firstSeq: 0, lastSeq: 6 } };
const numbers = { ceiling: 500, framesPartition: 3 };

beforeAll(async () => {
  database = await createTestDatabase(migrations);
});
beforeEach(async () => {
  await database.db('jobs').delete();
  await database.db('jobs').insert({ job_id: randomUUID(), status: 'queued', source_kind: 'stream' });
  const failOver = await rememberTables(database.db, ['jobs']);
  lost = await claim();
  await failOver();
  holder = await claim();
});
afterAll(async () => {
  await database.drop();
});

async function claim(): Promise<JobRecord> {
  const claimed = await claimJobs(database.db, { which: 'waiting', leaseMs: 60_000, limit: 1, worker: randomUUID() });
  if (!claimed[0]) throw new Error('the job was not claimed');
  return claimed[0];
}

const row = () => database.db('jobs').first<Record<string, unknown>>();

test('both workers have the same attempt number, and the job is that of the second', async () => {
  const { db } = database;
  expect(holder.attempt).toBe(lost.attempt);
  expect((await renewJobs(db, [{ ...holder, progress }], LEASE)).get(fenceKey(holder))?.status).toBe('queued');
  expect(await raiseCeiling(db, holder, { ...numbers, timeoutMs: 5_000 })).toBe(500);
  expect(await storeEnding(db, holder, { ending, progress })).toBeDefined();
  expect(await finishJob(db, holder, ending)).toBe(true);
});

test('the first worker renews nothing, also when it asks for the job beside other holders of it', async () => {
  const { db } = database;
  const before = await row();
  expect(await renewJobs(db, [{ ...lost, progress: undefined }], LEASE)).toEqual(new Map());
  expect(await renewJobs(db, [{ ...lost, progress }], LEASE)).toEqual(new Map());
  expect(await row()).toEqual(before);
  const both = [lost, holder].map((job) => ({ ...job, progress: undefined }));
  expect([...(await renewJobs(db, both, LEASE)).keys()]).toEqual([fenceKey(holder)]);
});

test('the first worker gets no frame numbers, ends nothing, and changes nothing', async () => {
  const { db } = database;
  const before = await row();
  expect(await markRunning(db, lost, numbers)).toBeUndefined();
  expect(await raiseCeiling(db, lost, { ...numbers, timeoutMs: 5_000 })).toBeUndefined();
  expect(await countShortage(db, lost)).toBeUndefined();
  expect(await storeEnding(db, lost, { ending, progress })).toBeUndefined();
  expect(await finishJob(db, lost, ending)).toBe(false);
  await recordRate(db, lost, true);
  await releaseJob(db, lost, progress);
  await endSuspicion(db, lost);
  await retractDeaths(db, [lost]);
  expect(await row()).toEqual(before);
});

test('frames that both workers dropped are counted', async () => {
  await saveDrops(database.db, [{ ...holder, dropped: 4 }]);
  await saveDrops(database.db, [{ ...lost, dropped: 3 }]);
  expect(await findJobs(database.db, [holder.jobId])).toMatchObject([{ framesDropped: 7 }]);
});
