import { retryUntil } from '@vision/shared/async/retry-until';
import type { FrameData } from '@vision/contracts/frame-events';
import type { OutgoingEvent } from '@vision/kafka/cloud-event';
import type { EventProducer } from '@vision/kafka/producer';
import { inSegments, singly } from '../domain/frame-events.ts';
import type { FrameGathering } from '../use-cases/frame-gathering.ts';
import { createStay } from './stay.ts';
import { createSparseTrace } from './linked-trace.ts';
import type { FrameMemory } from '../domain/frame-memory.ts';
import type { Hold } from './hold.ts';
import { createUnsentFrames, FULL_BATCH } from '../domain/unsent-frames.ts';
import type { DropListener } from '../domain/unsent-frames.ts';

export interface FramePublisher {
  /** Adds a frame; without a listener for drops it waits while too many are not acknowledged yet. */
  add: (frame: FrameData) => Promise<void>;
  /** Waits until every added frame is acknowledged. */
  flush: () => Promise<void>;
  /** Number of added frames that are not acknowledged. */
  waiting: () => number;
  /** Releases the memory of frames that are not acknowledged. */
  close: () => void;
}

export interface PublisherOptions {
  producer: Pick<EventProducer, 'publishBatch'>;
  /** Gathering of the worker, if frames may be sent in segments. */
  gathering?: FrameGathering | undefined;
  /** Partition of all messages of the job. */
  partition: number;
  /** Called with every batch that Kafka acknowledged, in order. */
  onAcknowledged: (frames: FrameData[]) => void;
  /** Ends the attempts to publish when the hold on the job ends. */
  hold: Pick<Hold, 'check' | 'publishing'>;
  memory: FrameMemory;
  /** Only for a live stream: its oldest frames are dropped when the memory is full. */
  drops?: DropListener | undefined;
}

/** Maximum number of waiting frames of a file; those of a live stream are limited only by memory. */
const MAX_WAITING = 200;

/**
 * Sends the frames of one job in order, one batch at a time: frames that arrive while a batch is being sent form the
 * next one, so a single frame is sent at once and many in large batches. Retries while the broker is unavailable.
 *
 * If frames are sent in segments, a batch waits for the joint departure of the worker's jobs, unless it is full or the
 * job ends. A retry uses the format that readers support at that time.
 */
export function createFramePublisher(options: PublisherOptions): FramePublisher {
  const { producer, gathering, partition, onAcknowledged, hold, memory, drops } = options;
  const signal = hold.publishing;
  const unsent = createUnsentFrames(memory.open(), drops);
  const stay = gathering && createStay(gathering);
  let sending: Promise<void> | undefined;
  let hasFailed = false;
  let isEnding = false;
  const recordSparsely = createSparseTrace('publish frames');

  const check = () => {
    hold.check();
    signal.throwIfAborted();
  };
  const publish = async (frames: FrameData[], isFirstTry: boolean) => {
    check();
    const asSegments = gathering?.isOn() === true;
    const events = eventsOf(frames, { partition, asSegments });
    // Only with events of ordinary size, and not after a failed request.
    if (asSegments && isFirstTry && events.every(isSegment)) await gathering.publish(events, check);
    else await producer.publishBatch(events);
  };
  const sendAll = async () => {
    while (unsent.queued() > 0) {
      if (stay && gathering.isOn() && !isEnding && unsent.queued() < FULL_BATCH) await stay.wait();
      const frames = unsent.nextBatch();
      let tries = 0;
      await recordSparsely(async () => {
        await retryUntil(() => publish(frames, (tries += 1) === 1), { signal });
        onAcknowledged(unsent.acknowledged());
      });
    }
    sending = undefined;
  };
  const send = () => {
    // After a failure the rejected promise stays, so no batch is sent after a missing one.
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
      if (!hadRoom || unsent.queued() >= FULL_BATCH) stay?.leave();
      const hasToWait = !drops && (!hadRoom || unsent.queued() >= MAX_WAITING);
      if (hasFailed || hasToWait) await outcome;
    },
    flush: async () => {
      isEnding = true;
      stay?.leave();
      while (sending !== undefined || unsent.queued() > 0) await send();
    },
    waiting: unsent.count,
    close: unsent.close,
  };
}

function eventsOf(
  frames: readonly FrameData[],
  { partition, asSegments }: { partition: number; asSegments: boolean },
): OutgoingEvent[] {
  const key = frames[0]?.job_id ?? '';
  const events = asSegments ? inSegments(frames) : singly(frames);
  return events.map((event) => ({ ...event, key, partition, source: 'inference' }));
}

const isSegment = ({ data }: OutgoingEvent): boolean => data instanceof Uint8Array;
