import { setTimeout as delay } from 'node:timers/promises';
import { findJobs } from '../db/jobs.ts';
import { findSnapshot, wantSnapshot } from '../db/live-snapshots.ts';
import { ACTIVE, isJobId } from '../domain/job.ts';
import { FRESH_MS } from '../domain/snapshot-times.ts';
import type { Deps } from './deps.ts';
import type { SnapshotOutcome } from './live-snapshots.ts';

type SnapshotDeps = Pick<Deps, 'db' | 'snapshotWaits' | 'wakeWorker'>;

/** The worker goes on storing frames for so long after a request. */
const WANTED_MS = 15_000;
const WAIT_MS = 3_000;
const POLL_MS = 150;

/** The newest frame of a live stream, at most 2 s old. The worker of the job may have to be asked for it first. */
export async function getJobSnapshot(deps: SnapshotDeps, id: string): Promise<SnapshotOutcome> {
  const { db, snapshotWaits: waits } = deps;
  const [job] = isJobId(id) ? await findJobs(db, [id.toLowerCase()]) : [];
  if (!job || job.ending || !ACTIVE.includes(job.status)) return { refusal: 'job_not_running' };
  if (job.source.kind !== 'stream') return { refusal: 'not_a_stream' };
  if (!job.hasSnapshots) return { refusal: 'snapshots_off' };
  const known = waits.get(job.jobId);
  if (known) return known;
  const wait = waitForSnapshot(deps, job.jobId).finally(() => waits.delete(job.jobId));
  waits.set(job.jobId, wait);
  return wait;
}

async function waitForSnapshot({ db, wakeWorker }: SnapshotDeps, jobId: string): Promise<SnapshotOutcome> {
  const deadline = performance.now() + WAIT_MS;
  if (await wantSnapshot(db, jobId, WANTED_MS)) wakeWorker();
  for (;;) {
    const found = await findSnapshot(db, jobId, FRESH_MS);
    if (found) {
      const { jpeg, width, height, frameTimeMs } = found;
      const data = jpeg.toString('base64');
      return { snapshot: { frame_time_ms: frameTimeMs, width, height, media_type: 'image/jpeg', data } };
    }
    if (performance.now() >= deadline) return { refusal: 'snapshot_not_yet' };
    await delay(POLL_MS);
  }
}
