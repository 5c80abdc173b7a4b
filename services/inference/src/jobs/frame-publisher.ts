import { retryUntil } from '@vision/shared/async/retry-until';
import type { FrameData } from '@vision/shared/contracts/frame-events';
import { frameProduced } from '@vision/shared/contracts/frame-events';
import type { OutgoingEvent } from '@vision/shared/messaging/cloud-event';
import type { EventProducer } from '@vision/shared/messaging/producer';
import { createSparseTrace } from '@vision/shared/telemetry/linked-trace';
import type { Hold } from './hold.ts';

export interface FramePublisher {
  /** Takes a frame; waits while too many are not acknowledged yet. */
  add: (frame: FrameData) => Promise<void>;
  /** Waits until every frame taken is acknowledged. */
  flush: () => Promise<void>;
  /** Frames that were taken and are not acknowledged. */
  waiting: () => number;
}

export interface PublisherOptions {
  producer: Pick<EventProducer, 'publishBatch'>;
  /** Where all messages of the job go. */
  partition: number;
  /** Called with every batch Kafka acknowledged, in order. */
  onAcknowledged: (frames: FrameData[]) => void;
  /** Gives up what is not acknowledged when nothing may be published any more. */
  hold: Pick<Hold, 'check' | 'publishing'>;
}

const MAX_FRAMES = 50;
// Brokers refuse batches above 1 MB; an object takes about 220 bytes.
const MAX_OBJECTS = 2000;
const MAX_WAITING = 200;

/**
 * Sends the frames of one job in order, one batch at a time: what arrives while a batch is on its way makes up the next
 * one, so a single frame leaves at once and a flood leaves in large batches. A broker that is away is waited for.
 */
export function createFramePublisher({ producer, partition, onAcknowledged, hold }: PublisherOptions): FramePublisher {
  const signal = hold.publishing;
  const queue: FrameData[] = [];
  let sent: FrameData[] = [];
  let sending: Promise<void> | undefined;
  let hasFailed = false;
  const recordSparsely = createSparseTrace('publish frames');

  const publish = async (events: OutgoingEvent[]) => {
    hold.check();
    signal.throwIfAborted();
    await producer.publishBatch(events);
  };
  const sendAll = async () => {
    while (queue.length > 0) {
      sent = queue.splice(0, batchSize(queue));
      const events = sent.map((frame) => toEvent(frame, partition));
      await recordSparsely(async () => {
        await retryUntil(() => publish(events), { signal });
        const acknowledged = sent;
        sent = [];
        onAcknowledged(acknowledged);
      });
    }
    sending = undefined;
  };
  const send = () => {
    // After a failure the rejected promise stays, so nothing is sent behind a batch that is missing.
    sending ??= sendAll();
    // The next `add` or `flush` reports the failure.
    sending.catch(() => (hasFailed = true));
    return sending;
  };
  return {
    add: async (frame) => {
      signal.throwIfAborted();
      queue.push(frame);
      const outcome = send();
      if (hasFailed || queue.length >= MAX_WAITING) await outcome;
    },
    flush: async () => {
      while (sending !== undefined || queue.length > 0) await send();
    },
    waiting: () => sent.length + queue.length,
  };
}

function batchSize(frames: readonly FrameData[]): number {
  let objects = 0;
  const end = frames.findIndex((frame, index) => {
    objects += frame.objects.length;
    return index >= MAX_FRAMES || (index > 0 && objects > MAX_OBJECTS);
  });
  return end < 0 ? frames.length : end;
}

function toEvent(frame: FrameData, partition: number): OutgoingEvent {
  const { type, topic } = frameProduced;
  const id = `${frame.job_id}/${frame.seq}`;
  return { topic, type, key: frame.job_id, partition, source: 'inference', id, data: frame };
}
