import { atMost } from '@vision/shared/async/at-most';
import { sourceChanged } from '@vision/contracts/job-events';
import type { SourceChangedData } from '@vision/contracts/job-events';
import type { OutgoingEvent } from '@vision/kafka/cloud-event';
import type { EventProducer } from '@vision/kafka/producer';
import { untraced } from '@vision/shared/telemetry/trace-context';
import { createSnapshots } from '../domain/source-snapshots.ts';
import type { DropReason, SourceFacts, SourceSnapshots } from '../domain/source-snapshots.ts';
import type { JobRecord } from '../domain/job.ts';
import type { Signals } from '../signals.ts';

/** Reports what the source of one job does. */
export interface SourceReport {
  /** Facts are read twice a second from now on. */
  watch: (read: () => SourceFacts) => void;
  /** Frames were read and are not published. */
  dropped: (reason: DropReason, frames: number) => void;
  /** The attempt has ended: its last counts are reported. */
  close: () => void;
}

/** Publishes snapshots of the sources of all jobs of this worker. */
export interface SourceReports {
  open: (job: Pick<JobRecord, 'jobId' | 'attempt'>) => SourceReport;
  /** Reads all sources and sends what has changed, without waiting for it. */
  poll: () => void;
  /** Sends what is left, for a short time. */
  stop: () => Promise<void>;
}

export interface SourceReportOptions {
  /** A producer of its own: a broker that is slow to take reports must not hold up frames. */
  producer: Pick<EventProducer, 'publishBatch' | 'stop'>;
  signals: Pick<Signals, 'sourceReports'>;
  now?: () => number;
}

/** Reports that wait for Kafka; then the oldest are dropped, because the next one of each source replaces them. */
const MOST_WAITING = 1_000;
const BATCH = 100;
const LAST_WORDS_MS = 2_000;

/** Creates the reports of a worker. Publishing is best effort: it takes bounded memory and is never waited for. */
export function createSourceReports({ producer, signals, now = Date.now }: SourceReportOptions): SourceReports {
  const open = new Set<SourceSnapshots>();
  const waiting: SourceChangedData[] = [];
  let sending: Promise<void> | undefined;

  const add = (snapshot: SourceChangedData | undefined) => {
    if (!snapshot) return;
    waiting.push(snapshot);
    const excess = waiting.splice(0, Math.max(0, waiting.length - MOST_WAITING));
    signals.sourceReports('dropped', excess.length);
  };
  const sendAll = async () => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      try {
        await untraced(() => producer.publishBatch(batch.map(toEvent)));
        signals.sourceReports('published', batch.length);
      } catch {
        // The next poll tries again; receivers ignore repeats.
        waiting.unshift(...batch);
        signals.sourceReports('failed', batch.length);
        return;
      }
    }
  };
  const send = () => {
    sending ??= sendAll().finally(() => (sending = undefined));
    return sending;
  };
  return {
    open: (job) => {
      const snapshots = createSnapshots(job, now);
      open.add(snapshots);
      return {
        watch: snapshots.watch,
        dropped: snapshots.dropped,
        close: () => {
          if (open.delete(snapshots)) add(snapshots.last());
        },
      };
    },
    poll: () => {
      for (const snapshots of open) add(snapshots.next());
      if (waiting.length > 0) void send();
    },
    stop: async () => {
      // What is not sent by then is lost: the worker that takes over the job reports anew.
      await atMost(LAST_WORDS_MS, send()).catch(() => undefined);
      await producer.stop();
    },
  };
}

function toEvent(data: SourceChangedData): OutgoingEvent {
  const { type, topic } = sourceChanged;
  const id = `${data.job_id}/source/${data.attempt}/${data.n}`;
  return { topic, type, key: data.job_id, source: 'inference', id, data };
}
