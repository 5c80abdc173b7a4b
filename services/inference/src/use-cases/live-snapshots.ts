import type { Knex } from 'knex';
import type { JobSnapshot } from '@vision/contracts/inference';
import { untraced } from '@vision/shared/telemetry/trace-context';
import { fenceKey } from '../db/held-jobs.ts';
import type { Fence } from '../db/held-jobs.ts';
import { removeSnapshot, storeSnapshot } from '../db/live-snapshots.ts';
import type { LiveSnapshot } from '../domain/pair-snapshots.ts';
import type { RgbImage } from '../domain/rgb-image.ts';
import { FRESH_MS, LEAST_PAUSE_MS } from '../domain/snapshot-times.ts';
import type { Signals } from '../signals.ts';

export type SnapshotOutcome =
  { snapshot: JobSnapshot } | { refusal: 'job_not_running' | 'not_a_stream' | 'snapshots_off' | 'snapshot_not_yet' };

/** Waits for requested frames, by job: concurrent requests share one. */
export type SnapshotWaits = Map<string, Promise<SnapshotOutcome>>;

/** The newest frame of one live stream. */
export interface LiveSnapshotHolder {
  put: (snapshot: LiveSnapshot) => void;
  /** Ends the attempt: its stored frame is removed. */
  close: () => void;
}

/** Stores the newest frames of this worker's live streams while clients request them. */
export interface LiveSnapshots {
  open: (job: Fence) => LiveSnapshotHolder;
  /** Requests the newest frame of a job for the given time. */
  want: (job: Fence, forMs: number) => void;
  /** Resolves when all storing and removing has ended. */
  stop: () => Promise<void>;
}

export interface LiveSnapshotsOptions {
  db: Knex;
  signals: Pick<Signals, 'snapshots'>;
  /** Encodes pixels as a JPEG. */
  encode: (image: RgbImage) => Promise<Buffer>;
  /** A stored frame is removed after this time without a newer one. */
  removedAfterMs: number;
}

/**
 * Holds the newest frame of each stream; encodes and stores it only while it is requested, one at a time. A slow or
 * unavailable database loses snapshots and never holds up frames.
 */
export function createLiveSnapshots(options: LiveSnapshotsOptions): LiveSnapshots {
  const open = new Map<string, ReturnType<typeof createHolder>>();
  const underWay = new Set<Promise<void>>();
  const run = (work: () => Promise<void>): Promise<void> => {
    const done = untraced(work).catch(() => options.signals.snapshots('not_stored'));
    underWay.add(done);
    return done.finally(() => underWay.delete(done));
  };
  return {
    open: (job) => {
      const holder = createHolder(options, job, run);
      open.set(fenceKey(job), holder);
      return {
        put: holder.put,
        close: () => {
          open.delete(fenceKey(job));
          holder.close();
        },
      };
    },
    want: (job, forMs) => open.get(fenceKey(job))?.want(forMs),
    stop: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

function createHolder(
  { db, signals, encode, removedAfterMs }: LiveSnapshotsOptions,
  job: Fence,
  run: (work: () => Promise<void>) => Promise<void>,
) {
  let newest: LiveSnapshot | undefined;
  let wantedUntil = 0;
  let notBefore = 0;
  let isStoring = false;
  let isClosed = false;
  let removal: NodeJS.Timeout | undefined;

  const remove = () => {
    clearTimeout(removal);
    removal = undefined;
    void run(() => removeSnapshot(db, job));
  };
  const store = async ({ pixels, timeMs, arrivedAtMs }: LiveSnapshot) => {
    const jpeg = await encode(pixels);
    const { width, height } = pixels;
    const ageMs = Math.max(0, Date.now() - arrivedAtMs);
    clearTimeout(removal);
    removal = setTimeout(remove, removedAfterMs);
    const stored = { jpeg, width, height, frameTimeMs: timeMs, ageMs };
    const isHeld = await storeSnapshot(db, job, stored);
    signals.snapshots(isHeld ? 'stored' : 'not_stored');
  };
  const storeNewest = () => {
    const now = performance.now();
    if (newest === undefined || isStoring || isClosed || now >= wantedUntil || now < notBefore) return;
    const one = newest;
    newest = undefined;
    if (Date.now() - one.arrivedAtMs > FRESH_MS) return;
    isStoring = true;
    notBefore = now + LEAST_PAUSE_MS;
    void run(() => store(one)).finally(() => {
      isStoring = false;
      if (isClosed && removal) remove();
      else storeNewest();
    });
  };
  return {
    put: (snapshot: LiveSnapshot) => {
      newest = snapshot;
      storeNewest();
    },
    want: (forMs: number) => {
      wantedUntil = performance.now() + forMs;
      storeNewest();
    },
    close: () => {
      isClosed = true;
      newest = undefined;
      if (removal && !isStoring) remove();
    },
  };
}
