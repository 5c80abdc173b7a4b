import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@vision/shared/testing/until';
import { jobWorld } from './support/job-service.ts';
import type { JobWorld } from './support/job-service.ts';
import { httpServer, street } from './support/live-watch.ts';
import { videoDirectory } from './support/videos.ts';

let world: JobWorld;
let videos: Awaited<ReturnType<typeof videoDirectory>>;
const open: { close: () => unknown }[] = [];

beforeAll(async () => {
  [world, videos] = await Promise.all([jobWorld(), videoDirectory()]);
});
afterEach(async () => {
  while (open.length > 0) await open.pop()?.close();
  // A worker that was killed counts until its silence is noticed.
  await world.db('workers').delete();
});
afterAll(async () => {
  await world.close();
  await videos.remove();
});

const jobFor = (source: unknown) => ({ job_id: randomUUID(), scene_code: 'person_vehicle', lower_bound: 0.3, source });
const ofType = (jobId: string, type: string) => world.messages(jobId).filter((message) => message.type === type);
const framesOf = (jobId: string) => ofType(jobId, 'vision.frame.v1');
const endsOf = (jobId: string) => ofType(jobId, 'vision.job.ended.v1').map(({ data }) => data);
/** Waits until a worker has died and ends the lease that it leaves behind. */
async function leftBehind({ died }: Awaited<ReturnType<JobWorld['spawn']>>, jobId: string): Promise<void> {
  await died;
  // A statement that it sent before is still carried out, and may renew the lease.
  await until(async () => {
    const { rows } = await world.db.raw<{ rows: unknown[] }>(
      `select from pg_stat_activity where datname = current_database() and application_name = 'inference'`,
    );
    return rows.length === 0;
  });
  await world.db('jobs').where({ job_id: jobId }).update({ lease_until: world.db.fn.now() });
}

/** A source that gives a clip, then refuses for good when it is connected to again, then would give the clip again. */
async function failingSource() {
  const clip = await readFile(await videos.make('clip.ts', '-i', street, '-t', '2', '-c', 'copy', '-f', 'mpegts'));
  let requests = 0;
  const base = await httpServer((_req, res) => {
    requests += 1;
    if (requests === 2) res.writeHead(401).end();
    else res.writeHead(200).end(clip);
  });
  const source = { kind: 'stream', url: `${base}/x`, pinned_address: '127.0.0.1' };
  return { source, requests: () => requests };
}

test.each(['inference.end.stored', 'inference.end.published'])(
  'the ending of a live job whose worker dies at %s is announced by another, and nothing follows',
  async (step) => {
    const { source, requests } = await failingSource();
    const doomed = await world.spawn({ CRASH_AT: step });
    open.push({ close: doomed.kill });
    const job = jobFor(source);
    await until(async () => (await doomed.submit(job)).status === 201);
    await leftBehind(doomed, job.job_id);
    const left = await world
      .db('jobs')
      .where({ job_id: job.job_id })
      .first<{ status: string; frames_published: number }>('status', 'frames_published');
    expect(left.status).toBe('running');
    await until(() => framesOf(job.job_id).length === left.frames_published);
    const next = await world.start();
    open.push(next);
    const ended = await next.ended(job.job_id);
    const count = framesOf(job.job_id).length;
    expect(ended).toMatchObject({ status: 'failed', error: 'auth_failed', attempt: 1, frames_published: count });
    await until(() => endsOf(job.job_id).length >= (step === 'inference.end.stored' ? 1 : 2));
    const [first] = framesOf(job.job_id);
    for (const end of endsOf(job.job_id)) {
      const attempt_frames = { count, first_seq: first?.data.seq, last_seq: (first?.data.seq ?? 0) + count - 1 };
      expect(end).toMatchObject({ attempt: 1, status: 'failed', frames_published: count, attempt_frames });
    }
    expect(framesOf(job.job_id).every(({ data }) => data.attempt === 1)).toBe(true);
    expect(requests()).toBe(2);
  },
);

test('the counts of a job are right although no progress of it could be stored', async () => {
  await world.db.raw(`
    create function refuse_progress() returns trigger language plpgsql as $$
      begin
        raise exception 'away' using errcode = '57P03';
      end $$`);
  await world.db.raw(`
    create trigger refuse_progress before update on jobs for each row
      when (new.last_seq <> old.last_seq and new.ending is null) execute function refuse_progress()`);
  try {
    // A lease is renewed with the progress, so the whole job has to take less than one lease.
    const worker = await world.start();
    open.push(worker);
    const job = jobFor(await world.upload(street));
    await worker.submit(job);
    expect(await worker.ended(job.job_id)).toMatchObject({ status: 'succeeded', frames_published: 60 });
    await until(() => endsOf(job.job_id).length > 0);
    expect(endsOf(job.job_id)).toMatchObject([
      { frames_published: 60, attempt_frames: { count: 60, first_seq: 0, last_seq: 59 } },
    ]);
  } finally {
    await world.db.raw('drop trigger refuse_progress on jobs');
    await world.db.raw('drop function refuse_progress');
  }
});
