import type { Knex } from 'knex';
import { narrowedTo } from '@vision/contracts/calibration';
import type { Job, NewJob } from '@vision/contracts/inference';
import { inTransaction } from '@vision/shared/db/transaction';
import type { SecretBox } from '@vision/shared/secret-box';
import { captureTrace } from '@vision/shared/telemetry/trace-context';
import { countActive, findJobs, insertJob } from '../db/jobs.ts';
import type { SubmittedJob } from '../db/jobs.ts';
import type { ServedScene } from '../detectors/detectors.ts';
import { lockCapacity, totalPlaces } from '../db/workers.ts';
import { contentOf, isJobId, toJob } from '../domain/job.ts';
import type { JobRecord } from '../domain/job.ts';
import { roomFor } from '../domain/room.ts';
import type { Deps } from './deps.ts';
import { lookAtSource } from './look-at-source.ts';

export type SubmitJobDeps = Pick<
  Deps,
  'db' | 'box' | 'detectors' | 'addresses' | 'files' | 'sandbox' | 'wakeWorker' | 'settings' | 'signals'
>;

export type SubmitJobOutcome =
  { kind: 'created' | 'known'; job: Job } | { kind: 'conflict' | 'rejected' | 'no_capacity'; reason: string };

/** Outcome of a job, and the processor time spent on it, in milliseconds. */
export type Submitted = SubmitJobOutcome & { processorMs?: number };

/** Accepts a job, once per id. A refused job is not stored. */
export async function submitJob(deps: SubmitJobDeps, input: NewJob): Promise<Submitted> {
  if (!isJobId(input.job_id)) return { kind: 'rejected', reason: 'request_invalid' };
  const jobId = input.job_id.toLowerCase();
  const [known] = await findJobs(deps.db, [jobId]);
  if (known) return compare(deps.box, known, input);
  const served = deps.detectors.find(input.scene_code);
  if (!served) return { kind: 'rejected', reason: 'scene_unknown' };
  if (!deps.sandbox.canRun) return { kind: 'no_capacity', reason: 'sandbox_unavailable' };
  // Before the probe, which costs far more than this query.
  if (await isFull(deps.db, input.source, deps.settings)) return NO_CAPACITY;
  const { refusal, processorMs } = await lookAtSource(deps, input.source);
  const outcome = refusal ?? (await insert(deps, sealed(deps.box, input, { jobId, served }), input));
  if (outcome.kind === 'created') deps.wakeWorker();
  return { ...outcome, processorMs };
}

const NO_CAPACITY = { kind: 'no_capacity', reason: 'no_capacity' } as const;

/** Files are not urgent, so they queue; a live stream is accepted only where its frames can be computed. */
async function isFull(
  db: Knex,
  { kind }: Pick<NewJob['source'], 'kind'>,
  { workerSeenMs }: Deps['settings'],
): Promise<boolean> {
  const [active, places] = await Promise.all([countActive(db), totalPlaces(db, workerSeenMs)]);
  return roomFor(places, active)[kind] === 0;
}

function compare(box: SecretBox, known: JobRecord, input: NewJob): SubmitJobOutcome {
  // Stopped before it was submitted: the stop remains effective.
  const isSame = known.fingerprint === undefined || box.matches(known.fingerprint, contentOf(input), 'job');
  return isSame ? { kind: 'known', job: toJob(known) } : { kind: 'conflict', reason: 'job_conflict' };
}

async function insert(deps: SubmitJobDeps, submitted: SubmittedJob, input: NewJob): Promise<SubmitJobOutcome> {
  const { db, box, settings } = deps;
  const { jobId } = submitted;
  return inTransaction(db, async (tx): Promise<SubmitJobOutcome> => {
    // One at a time; otherwise two submit requests could both see the last free slot.
    await lockCapacity(tx);
    if ((await isFull(tx, input.source, settings)) && (await findJobs(tx, [jobId])).length === 0) return NO_CAPACITY;
    const isNew = await insertJob(tx, submitted);
    const [stored] = await findJobs(tx, [jobId]);
    if (!stored) throw new Error('a job vanished while it was submitted');
    return isNew ? { kind: 'created', job: toJob(stored) } : compare(box, stored, input);
  });
}

/** The job in its stored form, with encrypted secrets. */
function sealed(
  box: SecretBox,
  input: NewJob,
  { jobId, served }: { jobId: string; served: ServedScene },
): SubmittedJob {
  const { source } = input;
  return {
    jobId,
    fingerprint: box.digest(contentOf(input), 'job'),
    sceneCode: input.scene_code,
    lowerBound: input.lower_bound,
    hasSnapshots: input.snapshots === 'tracks',
    giveUpAfterS: input.give_up_after_s,
    calibration: narrowedTo(served.detector.calibration, served.scene.labels),
    model: served.detector.model,
    source:
      source.kind === 'stream'
        ? { kind: 'stream', sealedUrl: box.seal(source.url, jobId), pinnedAddress: source.pinned_address }
        : { kind: 'object', key: source.key },
    ...captureTrace(),
  };
}
