import { z } from 'zod';
import type { Calibration } from '@vision/contracts/calibration';
import type { Job, JobStatus } from '@vision/contracts/inference';

/** How a job ended, and why when it failed. */
export interface JobEnding {
  status: Extract<JobStatus, 'stopped' | 'succeeded' | 'failed'>;
  error?: string | undefined;
}

/** Ending stored in the row of a job before its end-of-stream marker is published. Any worker can publish it. */
export interface StoredEnding extends JobEnding {
  /** The attempt that ended the job. */
  attempt: number;
  frames: AttemptFrames;
}

/** Frames that one attempt published. */
export interface AttemptFrames {
  count: number;
  /** Undefined before the first frame. */
  firstSeq?: number | undefined;
  lastSeq?: number | undefined;
}

/** Processes that a job may crash while it is the only job they hold. */
export const MOST_STRIKES = 3;

export const ACTIVE: readonly JobStatus[] = ['queued', 'running', 'stopping'];

/** A video job as it is stored. */
export interface JobRecord {
  jobId: string;
  /** Undefined for an id that was stopped and never submitted. */
  fingerprint: string | undefined;
  sceneCode: string;
  lowerBound: number;
  /** Calibration of the scores of its model, also under a worker with another registry; see `calibrationFor`. */
  calibration: Calibration;
  /** The model it was submitted with; undefined for jobs of earlier releases. */
  model: string | undefined;
  source: { kind: 'stream'; sealedUrl: Buffer; pinnedAddress: string | undefined } | { kind: 'object'; key: string };
  status: JobStatus;
  /** Grows with every claim of the job. */
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
  /** Time since which the stream is below its frame rate at its worker. */
  behindSince: Date | undefined;
  /** How the job ends, once that is decided: only the end-of-stream marker follows. */
  ending: StoredEnding | undefined;
  error: string | undefined;
  /** Attempts whose process crashed while it held no other job. */
  strikes: number;
  /** Whether images of the video can be requested. */
  hasSnapshots: boolean;
  /** Live streams: time without a frame after which the job fails; undefined: the default of this service. */
  giveUpAfterS: number | undefined;
  /** How long the stream had been unavailable when the job was claimed; undefined if no outage is recorded. */
  awayMs: number | undefined;
  traceparent: string | null;
  tracestate: string | null;
}

/** Jobs have the ids of their tasks. */
export const isJobId = (text: string): boolean => z.uuid().safeParse(text).success;

/** The job in the form of the contract. */
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
 * The content of a job as text for a digest: two submit requests with the same text are the same request. The pinned
 * address is left out: it only says how to reach the source, and may differ between retries.
 */
export function contentOf(job: {
  scene_code: string;
  lower_bound: number;
  source: { kind: 'stream'; url: string } | { kind: 'object'; bucket: string; key: string };
  snapshots?: 'tracks' | undefined;
  give_up_after_s?: number | undefined;
}): string {
  const { scene_code: scene, lower_bound: lowerBound, source, snapshots, give_up_after_s: giveUpAfterS } = job;
  // Without optional fields the text equals that of releases that do not know them.
  const optional = { ...(snapshots && { snapshots }), ...(giveUpAfterS !== undefined && { giveUpAfterS }) };
  const what = source.kind === 'stream' ? [source.url] : [source.bucket, source.key];
  return JSON.stringify([scene, lowerBound, source.kind, ...what, ...(Object.keys(optional).length ? [optional] : [])]);
}

/** Numbers of jobs that have not ended and that no worker holds. */
export interface UnheldJobs {
  /** They wait for a worker. */
  unowned: number;
  /** Live streams that have been unavailable for long and take no slot. */
  parked: number;
}
