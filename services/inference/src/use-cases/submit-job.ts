import type { Knex } from 'knex';
import type { Job, NewJob } from '@vision/shared/contracts/inference';
import { inTransaction } from '@vision/shared/db/transaction';
import { asAppError } from '@vision/shared/errors';
import { captureTrace } from '@vision/shared/telemetry/trace-context';
import type { SecretBox } from '@vision/shared/secret-box';
import type { VideoFiles } from '../clients/video-files.ts';
import { countActive, findJobs, insertJob } from '../db/jobs.ts';
import type { NewJobRow } from '../db/jobs.ts';
import { totalCapacity } from '../db/workers.ts';
import type { Detectors } from '../detectors/start-detectors.ts';
import { contentOf, toJob } from '../domain/job.ts';
import type { JobRecord } from '../domain/job.ts';
import { probeFile } from '../decoding/probe-file.ts';
import type { SandboxMode } from '../decoding/sandbox.ts';
import { SourceError } from '../domain/source-error.ts';
import type { SourceAddresses } from '../inputs/source-addresses.ts';

export interface SubmitJobDeps {
  db: Knex;
  box: SecretBox;
  detectors: Pick<Detectors, 'find'>;
  files: VideoFiles;
  addresses: SourceAddresses;
  bucket: string;
  sandbox: SandboxMode;
  /** Longest look at an uploaded file before the answer. */
  lookMs: number;
  workerSeenMs: number;
  wakeWorker: () => void;
}

export type SubmitJobOutcome =
  { kind: 'created' | 'known'; job: Job } | { kind: 'conflict' | 'rejected' | 'no_capacity'; reason: string };

/** Accepts a job, once per id. Whatever is refused has left nothing behind. */
export async function submitJob(deps: SubmitJobDeps, input: NewJob): Promise<SubmitJobOutcome> {
  const jobId = input.job_id.toLowerCase();
  const [known] = await findJobs(deps.db, [jobId]);
  if (known) return compare(deps, known, input);
  if (!deps.detectors.find(input.scene_code)) return { kind: 'rejected', reason: 'scene_unknown' };
  const refusal = await look(deps, input);
  if (refusal) return refusal;
  return insert(deps, input, jobId);
}

function compare({ box }: SubmitJobDeps, known: JobRecord, input: NewJob): SubmitJobOutcome {
  // Stopped before it was submitted: the stop sticks, whatever the job would have been.
  const isSame = known.fingerprint === undefined || box.matches(known.fingerprint, contentOf(input), 'job');
  return isSame ? { kind: 'known', job: toJob(known) } : { kind: 'conflict', reason: 'job_conflict' };
}

/** What can be told of the source within the time of an answer; the rest shows when the job runs. */
async function look(deps: SubmitJobDeps, { source }: NewJob): Promise<SubmitJobOutcome | undefined> {
  try {
    if (source.kind === 'stream') deps.addresses.parse(source.url);
    else if (source.bucket !== deps.bucket) return { kind: 'rejected', reason: 'bucket_unknown' };
    else await lookAtFile(deps, source.key);
    return undefined;
  } catch (error) {
    if (error instanceof SourceError) return { kind: 'rejected', reason: error.reason };
    if (asAppError(error)?.kind === 'unavailable') return { kind: 'no_capacity', reason: 'object_store_unavailable' };
    throw error;
  }
}

/** @throws SourceError when the file surely is no video */
async function lookAtFile({ files, sandbox, lookMs }: SubmitJobDeps, key: string): Promise<void> {
  const until = performance.now() + lookMs;
  const deadline = AbortSignal.timeout(lookMs);
  try {
    const file = await files.open(key, deadline);
    try {
      const probe = await probeFile(file.path, {
        timeoutMs: Math.max(1, Math.round(until - performance.now())),
        sandbox,
      });
      if (!probe.isReadable && probe.reason !== 'timeout') throw new SourceError(probe.reason);
    } finally {
      file.release();
    }
  } catch (error) {
    if (!deadline.aborted || error instanceof SourceError) throw error;
  }
}

async function insert(deps: SubmitJobDeps, input: NewJob, jobId: string): Promise<SubmitJobOutcome> {
  const { db, box, workerSeenMs } = deps;
  const row = rowOf(box, input, jobId);
  const outcome = await inTransaction(db, async (tx): Promise<SubmitJobOutcome> => {
    // One at a time, or two submits could both see the last free place.
    await tx.raw(`select pg_advisory_xact_lock(hashtextextended('inference-capacity', 0))`);
    const isFull = (await countActive(tx)) >= (await totalCapacity(tx, workerSeenMs));
    if (isFull && (await findJobs(tx, [jobId])).length === 0) return { kind: 'no_capacity', reason: 'no_capacity' };
    const isNew = await insertJob(tx, row);
    const [stored] = await findJobs(tx, [jobId]);
    if (!stored) throw new Error('a job vanished while it was submitted');
    return isNew ? { kind: 'created', job: toJob(stored) } : compare(deps, stored, input);
  });
  if (outcome.kind === 'created') deps.wakeWorker();
  return outcome;
}

function rowOf(box: SecretBox, input: NewJob, jobId: string): NewJobRow {
  const { source } = input;
  const isStream = source.kind === 'stream';
  return {
    ...{ job_id: jobId, fingerprint: box.digest(contentOf(input), 'job') },
    ...{ scene_code: input.scene_code, lower_bound: input.lower_bound, source_kind: source.kind },
    object_key: isStream ? null : source.key,
    stream_url: isStream ? box.seal(source.url, jobId) : null,
    pinned_address: isStream ? (source.pinned_address ?? null) : null,
    ...captureTrace(),
  };
}
