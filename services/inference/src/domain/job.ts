import { z } from 'zod';
import type { Calibration } from '@vision/contracts/calibration';
import type { Job, JobStatus } from '@vision/contracts/inference';

/** How a job ended, and why when it failed. */
export interface JobEnding {
  status: Extract<JobStatus, 'stopped' | 'succeeded' | 'failed'>;
  error?: string | undefined;
}

/** An ending as it stands in the row of a job before its end mark is published. Any worker can publish it. */
export interface StoredEnding extends JobEnding {
  /** The attempt that ended the job, and what it published. */
  attempt: number;
  frames: AttemptFrames;
}

/** What one attempt published. */
export interface AttemptFrames {
  count: number;
  /** Undefined before the first frame. */
  firstSeq?: number | undefined;
  lastSeq?: number | undefined;
}

/** Processes that a job may end while it is the only one they hold. */
export const MOST_STRIKES = 3;

export const ACTIVE: readonly JobStatus[] = ['queued', 'running', 'stopping'];

/** A video job as it is stored. */
export interface JobRecord {
  jobId: string;
  /** Undefined for an id that was only ever stopped. */
  fingerprint: string | undefined;
  sceneCode: string;
  lowerBound: number;
  /** Calibration of its scores from the first frame to the last, also under a worker with another registry. */
  calibration: Calibration;
  source: { kind: 'stream'; sealedUrl: Buffer; pinnedAddress: string | undefined } | { kind: 'object'; key: string };
  status: JobStatus;
  /** Grows with every worker that takes the job. */
  attempt: number;
  /** Drawn with every claim of the job; every write of its holder names it beside the attempt. */
  claim: string;
  framesPublished: number;
  /** The last sample Kafka acknowledged; -1 before the first. */
  lastSeq: number;
  lastTimeMs: number | undefined;
  /** Live jobs: numbers below it may have been used. */
  reservedSeq: number;
  /** Partition of the topic of frames that all messages of the job go to; undefined before the first frame. */
  framesPartition: number | undefined;
  /** Frames of a live stream that were read and could not be published, by all attempts. */
  framesDropped: number;
  /** Since when the worker that has it gives it less than its rate. */
  behindSince: Date | undefined;
  /** How the job ends, once that is decided: nothing but the end mark follows. */
  ending: StoredEnding | undefined;
  error: string | undefined;
  /** Attempts that ended with their process while it held no other job. */
  strikes: number;
  /** Whether images of the video can be asked for. */
  hasSnapshots: boolean;
  /** Live streams: time without a frame after which the job fails; undefined: a time of this service. */
  giveUpAfterS: number | undefined;
  /** For how long the stream had been away when the job was claimed; undefined while it is not known to be away. */
  awayMs: number | undefined;
  traceparent: string | null;
  tracestate: string | null;
}

/** Ids are those of tasks. */
export const isJobId = (text: string): boolean => z.uuid().safeParse(text).success;

/** The form of the contract. */
export function toJob(record: JobRecord): Job {
  const { jobId, status, framesPublished, framesDropped, behindSince, error } = record;
  const isRunning = ACTIVE.includes(status);
  const attempt = record.ending?.attempt ?? record.attempt;
  return {
    job_id: jobId,
    status,
    frames_published: framesPublished,
    ...(attempt > 0 ? { attempt } : {}),
    ...(framesDropped > 0 ? { frames_dropped: framesDropped } : {}),
    ...(isRunning && behindSince ? { behind_since: behindSince.toISOString() } : {}),
    ...(error === undefined ? {} : { error }),
  };
}

/**
 * What a job is, as text to be digested: two submits with the same text ask for the same thing. The pinned address is
 * left out: it says how to reach the source, and may differ between two tries.
 */
export function contentOf(job: {
  scene_code: string;
  lower_bound: number;
  source: { kind: 'stream'; url: string } | { kind: 'object'; bucket: string; key: string };
  snapshots?: 'tracks' | undefined;
  give_up_after_s?: number | undefined;
}): string {
  const { scene_code: scene, lower_bound: lowerBound, source, snapshots, give_up_after_s: giveUpAfterS } = job;
  // Without optional fields the text is that of releases that know none.
  const optional = { ...(snapshots && { snapshots }), ...(giveUpAfterS !== undefined && { giveUpAfterS }) };
  const what = source.kind === 'stream' ? [source.url] : [source.bucket, source.key];
  return JSON.stringify([scene, lowerBound, source.kind, ...what, ...(Object.keys(optional).length ? [optional] : [])]);
}

/** Numbers of jobs that have not ended and that no worker holds. */
export interface UnheldJobs {
  /** They wait for a worker. */
  unowned: number;
  /** Live streams that have been unavailable for long, and that took no slot since. */
  parked: number;
}
