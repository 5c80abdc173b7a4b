import { randomBytes } from 'node:crypto';
import { snapshotTaken } from '@vision/contracts/job-events';
import type { SnapshotTakenData } from '@vision/contracts/job-events';
import { TRACK_SNAPSHOT_MAX_BYTES, trackSnapshotKey } from '@vision/contracts/track-snapshots';
import type { EventProducer } from '@vision/kafka/producer';
import type { ObjectStore } from '@vision/objects/object-store';
import { atMost } from '@vision/shared/async/at-most';
import { createGate, GateFullError } from '@vision/shared/async/gate';
import type { Gate } from '@vision/shared/async/gate';
import { crashPoint } from '@vision/shared/crash-point';
import { untraced } from '@vision/shared/telemetry/trace-context';
import type { Jpeg } from '../detectors/encode-jpeg.ts';
import { createSnapshotChoice } from '../domain/choose-snapshots.ts';
import type { ChosenSnapshot, SnapshotChoice } from '../domain/choose-snapshots.ts';
import type { JobRecord } from '../domain/job.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import type { PixelBox } from '../domain/snapshot-quality.ts';
import type { Signals } from '../signals.ts';

/** Stores images of the tracks of this worker's jobs and publishes their keys. */
export interface TrackSnapshots {
  open: (job: Pick<JobRecord, 'jobId' | 'attempt' | 'source'>, more: OpenOptions) => SnapshotChoice;
  /** Waits a short time for images in progress. */
  stop: () => Promise<void>;
}

interface OpenOptions {
  /** Objects with a lower score get no image. */
  threshold: number;
  /** Whether this worker still holds the job. */
  isHeld: () => boolean;
}

export interface TrackSnapshotsOptions {
  store: Pick<ObjectStore, 'put'>;
  /** Prefix of the keys of new objects. */
  ownPrefix: () => Promise<string>;
  producer: Pick<EventProducer, 'publishBatch'>;
  encode: (image: RgbImage, box: PixelBox) => Promise<Jpeg>;
  signals: Pick<Signals, 'trackSnapshots' | 'trackSnapshotFailed'>;
}

/** Limits of concurrent crops and of waiting ones: each retains a whole frame in memory. */
const CUTS = { concurrency: 2, queue: 8 };
/** Limits of concurrent stores and of waiting ones. */
const STORES = { concurrency: 4, queue: 60 };
const LARGE_FRAMES = { stream: 2, object: 4 };
const LAST_WORDS_MS = 2_000;

/**
 * Best effort in bounded memory: a slow store, broker or encoder loses images and never holds up frames. The object is
 * stored before its event is published; a sweep removes an object whose event is lost.
 */
export function createTrackSnapshots(options: TrackSnapshotsOptions): TrackSnapshots {
  const { encode, signals } = options;
  const cuts = createGate(CUTS);
  const stores = createGate(STORES);
  const underWay = new Set<Promise<void>>();

  const cut = (pixels: RgbImage, box: PixelBox): Promise<Jpeg> | undefined => {
    if (isFull(cuts, CUTS)) {
      signals.trackSnapshots('dropped');
      return undefined;
    }
    const jpeg = untraced(() => cuts.run(() => encode(pixels, box)));
    // The promise may be held for long before it is awaited, and its rejection must not count as unhandled.
    jpeg.catch(() => undefined);
    return jpeg;
  };
  const run = (work: () => Promise<void>) => {
    const done = untraced(() => stores.run(work)).catch((error: unknown) => {
      if (error instanceof GateFullError) signals.trackSnapshots('dropped');
      else signals.trackSnapshotFailed(error);
    });
    underWay.add(done);
    void done.finally(() => underWay.delete(done));
  };
  return {
    open: (job, { threshold, isHeld }) =>
      createSnapshotChoice({
        threshold,
        mostLarge: LARGE_FRAMES[job.source.kind],
        cut,
        onUnused: () => signals.trackSnapshots('late'),
        take: (snapshot, jpeg) => {
          // A worker that has lost its job publishes nothing.
          if (isHeld()) run(async () => store(options, job, snapshot, await jpeg));
        },
      }),
    stop: async () => {
      await atMost(LAST_WORDS_MS, Promise.all(underWay)).catch(() => undefined);
    },
  };
}

const isFull = (gate: Gate, { concurrency, queue }: typeof CUTS) => gate.load() >= concurrency + queue;

async function store(
  { store: bucket, ownPrefix, producer, signals }: TrackSnapshotsOptions,
  { jobId, attempt }: Pick<JobRecord, 'jobId' | 'attempt'>,
  { trackId, n, seq, timeMs, score, bbox }: ChosenSnapshot,
  { data: body, width, height }: Jpeg,
): Promise<void> {
  if (body.length > TRACK_SNAPSHOT_MAX_BYTES) return;
  // After a restore of the database the same numbers may be used again.
  const name = `${n}x${randomBytes(4).toString('hex')}`;
  const key = trackSnapshotKey(await ownPrefix(), { taskId: jobId, trackId }, name);
  if (key === undefined) return;
  await bucket.put({ key, body, contentType: 'image/jpeg' });
  crashPoint('inference.track_snapshot.stored');
  const data: SnapshotTakenData = {
    job_id: jobId,
    attempt,
    track_id: trackId,
    n,
    seq,
    frame_time_ms: timeMs,
    score,
    bbox,
    object_key: key,
    width,
    height,
    bytes: body.length,
  };
  const { type, topic } = snapshotTaken;
  const id = `${jobId}/snapshot/${trackId}/${name}`;
  await producer.publishBatch([{ topic, type, key: jobId, source: 'inference', id, data }]);
  crashPoint('inference.track_snapshot.published');
  signals.trackSnapshots('published');
}
