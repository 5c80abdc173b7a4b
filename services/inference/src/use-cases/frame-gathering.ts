import type { OutgoingEvent } from '@vision/kafka/cloud-event';
import type { EventProducer } from '@vision/kafka/producer';
import { asUnavailable } from '@vision/shared/unavailable';

/** Puts what the jobs of a worker publish at about the same time into one request to Kafka. */
export interface FrameGathering {
  /** Whether frames travel in segments now; without it a job publishes by itself and at once. */
  isOn: () => boolean;
  /** Lets more frames come: resolves when the requests of this moment depart, after the linger at the latest. */
  departure: () => Promise<void>;
  /**
   * Publishes binary events together with those of other jobs. `check` is called right before they are sent, and throws
   * when this job may publish nothing any more.
   */
  publish: (events: OutgoingEvent[], check: () => void) => Promise<void>;
}

export interface GatheringOptions {
  producer: Pick<EventProducer, 'publishBatch'>;
  isOn: () => boolean;
  lingerMs: number;
}

/** Parts of one request that go to one partition are one batch for the broker, which takes 1 MB by default. */
const MOST_BYTES = 512 * 1024;
/** After a request that failed each job publishes by itself: a partition that takes nothing must hold up no other. */
const REST_MS = 30_000;

interface Waiting {
  events: OutgoingEvent[];
  check: () => void;
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Nothing is kept here beyond a departure: frames stay with their job until Kafka has them. */
export function createFrameGathering({ producer, isOn, lingerMs }: GatheringOptions): FrameGathering {
  let next: Promise<void> | undefined;
  let waiting: Waiting[] = [];
  let restsUntilMs = -Infinity;

  const send = async (group: Waiting[]) => {
    const held = group.filter(mayPublish);
    try {
      await producer.publishBatch(held.flatMap(({ events }) => events));
      for (const { resolve } of held) resolve();
    } catch (error) {
      if (held.length > 1) restsUntilMs = performance.now() + REST_MS;
      // An outage is waited out by each job. Anything else may be said of the records of one job, or of all together.
      const isOfAll = held.length === 1 || asUnavailable(error) !== undefined;
      for (const one of held)
        if (isOfAll) one.reject(error);
        else void send([one]);
    }
  };
  const depart = () => {
    const groups = cut(waiting);
    waiting = [];
    for (const group of groups) void send(group);
  };
  return {
    isOn,
    departure: () => {
      next ??= new Promise((resolve) => {
        setTimeout(() => {
          next = undefined;
          resolve();
        }, lingerMs).unref();
      });
      return next;
    },
    publish: (events, check) =>
      new Promise((resolve, reject) => {
        const one = { events, check, bytes: sizeOf(events), resolve, reject };
        if (performance.now() < restsUntilMs) {
          void send([one]);
          return;
        }
        // Those who departed together publish before this comes.
        if (waiting.length === 0) setImmediate(depart);
        waiting.push(one);
      }),
  };
}

function mayPublish({ check, reject }: Waiting): boolean {
  try {
    check();
    return true;
  } catch (error) {
    reject(error);
    return false;
  }
}

function cut(all: readonly Waiting[]): Waiting[][] {
  const groups: Waiting[][] = [];
  let bytes = 0;
  for (const one of all) {
    const group = groups.at(-1);
    if (group && bytes + one.bytes <= MOST_BYTES) {
      group.push(one);
      bytes += one.bytes;
    } else {
      groups.push([one]);
      bytes = one.bytes;
    }
  }
  return groups;
}

const sizeOf = (events: readonly OutgoingEvent[]): number =>
  events.reduce((sum, { data }) => sum + (data instanceof Uint8Array ? data.length : 0), 0);
