import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuditor } from '@vision/shared/audit/auditor';
import { selectDifferences } from '@vision/shared/audit/differences';
import { createLogger } from '@vision/shared/logger';
import { testMetrics } from '@vision/shared/testing/metrics';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { migrations } from '../src/db/migrations/list.ts';
import { countUnheld, findUnattended } from '../src/db/jobs.ts';
import { auditJobs } from '../src/use-cases/audit-jobs.ts';
import { listActiveJobs } from '../src/use-cases/list-active-jobs.ts';

const metrics = testMetrics();
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(migrations);
});
afterAll(() => database.drop());

test('jobs that no worker holds are reported and shown until one takes them; held and ended ones are not', async () => {
  const { db } = database;
  const lines: string[] = [];
  const logger = createLogger('inference', 'info', { write: (line) => void lines.push(line) });
  const ageMs = 300;
  const auditor = createAuditor({
    db,
    logger,
    audits: [auditJobs({ db })],
    config: { AUDIT_INTERVAL_MS: 50, AUDIT_AGE_MS: ageMs },
  });
  const [lost, held, ended] = [randomUUID(), randomUUID(), randomUUID()];
  const lease = (seconds: number) => db.raw('now() + make_interval(secs => ?)', [seconds]);
  await db('jobs').insert([
    { job_id: lost, status: 'running', attempt: 2, lease_until: lease(-1) },
    { job_id: held, status: 'running', lease_until: lease(600) },
    { job_id: ended, status: 'succeeded', lease_until: lease(-600), ended_at: db.fn.now() },
  ]);
  const gauge = () => metrics.sumOf('vision.audit.differences', { kind: 'job_without_worker' });
  expect(await countUnheld(db)).toEqual({ unowned: 1, parked: 0 });
  auditor.start();
  try {
    await until(async () => (await gauge()) === 1);
    expect(await selectDifferences(db, ageMs, 10)).toEqual([
      {
        kind: 'job_without_worker',
        id: lost,
        since: expect.any(String),
        details: { task_id: lost, status: 'running', attempt: 2 },
      },
    ]);
    expect(lines.filter((line) => line.includes('an audit found a difference'))).toHaveLength(1);
    await db('jobs')
      .where({ job_id: lost })
      .update({ lease_until: lease(600) });
    await until(async () => (await gauge()) === 0);
  } finally {
    await auditor.stop();
  }
});

test('a parked stream lacks no worker until its time is over; then one has to end it', async () => {
  const { db } = database;
  await db('jobs').delete();
  const [waiting, overdue, endless] = [randomUUID(), randomUUID(), randomUUID()];
  const ago = (seconds: number) => db.raw('now() - make_interval(secs => ?)', [seconds]);
  const parked = { status: 'running', attempt: 3, parked_attempt: 3, lease_until: ago(30), parked_until: ago(10) };
  await db('jobs').insert([
    { ...parked, job_id: waiting, away_since: ago(900), give_up_after_s: 3600 },
    { ...parked, job_id: overdue, away_since: ago(3700), give_up_after_s: 3600 },
    { ...parked, job_id: endless, away_since: ago(3700) },
  ]);
  expect(await countUnheld(db)).toEqual({ unowned: 1, parked: 2 });
  expect((await findUnattended(db, { limit: 10 })).map(({ jobId }) => jobId)).toEqual([overdue]);
  const ids = [waiting, overdue, endless];
  expect((await findUnattended(db, { ids, limit: 10 })).map(({ jobId }) => jobId)).toEqual([overdue]);
});

test('an index answers how many jobs no worker holds', async () => {
  const plan = await database.db.transaction(async (tx) => {
    await tx.raw('set local enable_seqscan = off');
    const { rows } = await tx.raw<{ rows: object[] }>(
      `explain select count(*) from jobs where status in ('queued', 'running', 'stopping') and lease_until <= now()`,
    );
    return JSON.stringify(rows);
  });
  expect(plan).toContain('jobs_due');
});

test('jobs that have not ended are listed page by page, also those without a task', async () => {
  const { db } = database;
  const ids = Array.from({ length: 3 }, () => randomUUID()).toSorted();
  const over = randomUUID();
  await db('jobs').delete();
  await db('jobs').insert([
    ...ids.map((id) => ({ job_id: id, status: 'running' })),
    { job_id: over, status: 'stopped', ended_at: db.fn.now() },
  ]);
  const first = await listActiveJobs({ db }, { after: '00000000-0000-0000-0000-000000000000', limit: 2 });
  expect([first.jobs.map(({ job_id: id }) => id), first.next_cursor]).toEqual([ids.slice(0, 2), ids[1]]);
  const rest = await listActiveJobs({ db }, { after: first.next_cursor, limit: 2 });
  expect([rest.jobs.map(({ job_id: id }) => id), rest.next_cursor]).toEqual([ids.slice(2), '']);
});
