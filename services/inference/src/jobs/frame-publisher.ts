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
  /** Of the worker, where frames may travel in segments. */
  gathering?: FrameGathering | undefined;
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
 *
 * Where frames travel in segments, a batch waits for the departure of the worker's other jobs, unless it is full or the
 * job ends. It is sent again in the form that is understood then.
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
    // Beside events of a usual size only, and not behind a request that failed.
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
