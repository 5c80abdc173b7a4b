import { readHead, readLog } from '../db/event-log.ts';
import { moveMqttEndpoint } from '../db/mqtt-leases.ts';
import type { LeasedMqttEndpoint } from '../db/mqtt-leases.ts';
import { eventBody, missedEvents } from '../domain/event.ts';
import type { LoggedEvent } from '../domain/event.ts';
import { topicOf } from '../domain/mqtt-topic.ts';
import { wants } from '../domain/webhook-event.ts';
import type { MqttSession } from '../clients/connect-mqtt.ts';
import type { Deps } from './deps.ts';

type PublishDeps = Pick<Deps, 'db' | 'signals' | 'watch'>;

/** Messages that a broker has not acknowledged yet. */
const IN_FLIGHT = 32;
const READ = 200;
/** Pause after which the log is read anyway. */
const WAIT_MS = 30_000;
/** For answers to what was sent, when this process has to end. */
const LAST_ANSWERS_MS = 1_000;

/**
 * Publishes what is in the log of a subject behind the place of an endpoint, and what is added to it, in its order.
 * The place moves when the broker has acknowledged everything up to it: after a crash some events are published once
 * more, under the same id, and none is left out.
 * Resolves when the signal aborts, or when another process has the endpoint.
 * @throws MqttError when the connection ends.
 */
export async function publishLog(
  deps: PublishDeps,
  endpoint: LeasedMqttEndpoint,
  { session, signal }: { session: MqttSession; signal: AbortSignal },
): Promise<void> {
  const { db, watch } = deps;
  const following = watch.follow(endpoint.subject);
  const wake = () => following.wake();
  const window = createWindow(endpoint.position, wake);
  const ending = AbortSignal.any([signal, session.ended]);
  ending.addEventListener('abort', wake, { once: true });
  let stored: number | undefined;
  const store = async () => {
    // An acknowledgement shows that the broker works, and so does a connection on which nothing is to be sent.
    if (stored === window.confirmed() || !(window.isEmpty() || window.isAnswered())) return true;
    stored = window.confirmed();
    return moveMqttEndpoint(db, endpoint, stored);
  };
  try {
    for (;;) {
      session.ended.throwIfAborted();
      const isMore = !signal.aborted && window.room() > 0 && (await publishSome(deps, endpoint, { session, window }));
      if (!(await store())) return;
      if (signal.aborted) break;
      if (!isMore) await following.wait(WAIT_MS);
    }
    const end = performance.now() + LAST_ANSWERS_MS;
    while (!window.isEmpty() && !session.ended.aborted && performance.now() < end)
      await following.wait(LAST_ANSWERS_MS);
    await store();
  } finally {
    ending.removeEventListener('abort', wake);
    following.end();
  }
}

/** Reads and publishes as much as there is room for. @returns whether there may be more to read now */
async function publishSome(
  { db, signals }: PublishDeps,
  endpoint: LeasedMqttEndpoint,
  { session, window }: { session: MqttSession; window: Window },
): Promise<boolean> {
  const { subject, endpoint_id: endpointId, event_types: eventTypes, topic_prefix: prefix } = endpoint;
  const after = window.read();
  // The end is read first: what is added in between is read in the next round.
  const upTo = await readHead(db, subject);
  if (upTo <= after) return false;
  const range = { subject, types: undefined, after, upTo, order: 'asc', limit: READ } as const;
  const { events, expired } = await readLog(db, range);
  const missed = expired && expired.position > after ? [missedEvents(subject, after, expired)] : [];
  for (const event of [...missed, ...events]) {
    if (window.room() === 0) return false;
    if (!wants({ endpointId, eventTypes }, event)) {
      window.skip(event.position);
      continue;
    }
    const done = window.send(event.position);
    session.publish(topicOf(prefix, event), JSON.stringify(eventBody(event))).then(
      () => {
        signals.mqttPublished(ageOf(event));
        done();
      },
      // The session has ended, and its signal says why.
      () => undefined,
    );
  }
  if (events.length === READ) return true;
  window.skip(upTo);
  return false;
}

const ageOf = ({ occurred_at: at }: LoggedEvent) => Date.now() - at.getTime();

/** What was read of a log and what of it is acknowledged, by numbers of events. */
interface Window {
  /** Messages that may be sent now. */
  room: () => number;
  /** Whether everything that was sent is acknowledged. */
  isEmpty: () => boolean;
  /** Whether something was acknowledged. */
  isAnswered: () => boolean;
  /** Up to here the log was read. */
  read: () => number;
  /** Up to here everything is acknowledged or not wanted. */
  confirmed: () => number;
  /** A message was sent. @returns to be called when it is acknowledged */
  send: (position: number) => () => void;
  /** Up to here nothing more is wanted. */
  skip: (position: number) => void;
}

function createWindow(start: number, onAnswer: () => void): Window {
  const waiting = new Set<number>();
  let read = start;
  let confirmed = start;
  let isAnswered = false;
  const move = () => {
    // Numbers are sent in ascending order, and a set keeps the order in which they were added.
    const [first] = waiting;
    const next = first === undefined ? read : before(first);
    confirmed = next;
  };
  /** The last number behind which nothing is missing. */
  const before = (first: number) => Math.max(confirmed, first - 1);
  return {
    room: () => IN_FLIGHT - waiting.size,
    isEmpty: () => waiting.size === 0,
    isAnswered: () => isAnswered,
    read: () => read,
    confirmed: () => confirmed,
    send: (position) => {
      waiting.add(position);
      read = position;
      return () => {
        waiting.delete(position);
        isAnswered = true;
        move();
        onAnswer();
      };
    },
    skip: (position) => {
      read = Math.max(read, position);
      move();
    },
  };
}
