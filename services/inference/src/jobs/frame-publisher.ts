import { retryUntil } from '@vision/shared/async/retry-until';
import type { FrameData } from '@vision/contracts/frame-events';
import { frameProduced } from '@vision/contracts/frame-events';
import type { OutgoingEvent } from '@vision/kafka/cloud-event';
import type { EventProducer } from '@vision/kafka/producer';
import { createSparseTrace } from './linked-trace.ts';
import type { FrameMemory } from '../domain/frame-memory.ts';
import type { Hold } from './hold.ts';
import { createUnsentFrames } from '../domain/unsent-frames.ts';
import type { DropListener } from '../domain/unsent-frames.ts';

export interface FramePublisher {
  /** Takes a frame; without a listener for drops it waits while too many are not acknowledged yet. */
  add: (frame: FrameData) => Promise<void>;
  /** Waits until every frame taken is acknowledged. */
  flush: () => Promise<void>;
  /** Frames that were taken and are not acknowledged. */
  waiting: () => number;
  /** Gives the memory of frames that are not acknowledged back. */
  close: () => void;
}

export interface PublisherOptions {
  producer: Pick<EventProducer, 'publishBatch'>;
  /** Where all messages of the job go. */
  partition: number;
  /** Called with every batch Kafka acknowledged, in order. */
  onAcknowledged: (frames: FrameData[]) => void;
  /** Gives up what is not acknowledged when nothing may be published any more. */
  hold: Pick<Hold, 'check' | 'publishing'>;
  memory: FrameMemory;
  /** Of a live stream, whose oldest frames are dropped when the memory is full. */
  drops?: DropListener | undefined;
}

/** Frames of a file that wait; a live stream has no limit but memory. */
const MAX_WAITING = 200;

/**
 * Sends the frames of one job in order, one batch at a time: what arrives while a batch is on its way makes up the next
 * one, so a single frame leaves at once and a flood leaves in large batches. A broker that is away is waited for.
 */
export function createFramePublisher(options: PublisherOptions): FramePublisher {
  const { producer, partition, onAcknowledged, hold, memory, drops } = options;
  const signal = hold.publishing;
  const unsent = createUnsentFrames(memory.open(), drops);
  let sending: Promise<void> | undefined;
  let hasFailed = false;
  const recordSparsely = createSparseTrace('publish frames');

  const publish = async (events: OutgoingEvent[]) => {
    hold.check();
    signal.throwIfAborted();
    await producer.publishBatch(events);
  };
  const sendAll = async () => {
    while (unsent.queued() > 0) {
      const events = unsent.nextBatch().map((frame) => toEvent(frame, partition));
      await recordSparsely(async () => {
        await retryUntil(() => publish(events), { signal });
        onAcknowledged(unsent.acknowledged());
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
      const hadRoom = unsent.add(frame);
      const outcome = send();
      const hasToWait = !drops && (!hadRoom || unsent.queued() >= MAX_WAITING);
      if (hasFailed || hasToWait) await outcome;
    },
    flush: async () => {
      while (sending !== undefined || unsent.queued() > 0) await send();
    },
    waiting: unsent.count,
    close: unsent.close,
  };
}

function toEvent(frame: FrameData, partition: number): OutgoingEvent {
  const { type, topic } = frameProduced;
  const id = `${frame.job_id}/${frame.seq}`;
  return { topic, type, key: frame.job_id, partition, source: 'inference', id, data: frame };
}
