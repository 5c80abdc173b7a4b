import { moveMqttEndpoint, readHeadIfLeased } from '../../db/mqtt-leases.ts';
import type { LeasedMqttEndpoint } from '../../db/mqtt-leases.ts';
import { MISSED, eventBody } from '../../domain/event.ts';
import type { EventType, LoggedEvent } from '../../domain/event.ts';
import { topicOf } from '../../domain/mqtt-topic.ts';
import { wants } from '../../domain/webhook-event.ts';
import type { MqttSession } from '../../clients/connect-mqtt.ts';
import type { Deps } from '../deps.ts';
import { readOn } from '../log/read-on.ts';

type PublishDeps = Pick<Deps, 'db' | 'signals' | 'watch'>;

/** Messages that a broker has not acknowledged yet. */
const IN_FLIGHT = 32;
/** Minimum free capacity for which the log is queried. */
const ROOM = IN_FLIGHT / 2;
/** A connection that was open for this time with nothing to send proves that the broker works. */
const WORKS_AFTER_MS = 30_000;
/** Interval at which the log is read without a wake-up. */
const WAIT_MS = 30_000;
/** Time limit for acknowledgements when this process has to end. */
const LAST_ANSWERS_MS = 1_000;

/**
 * Publishes the log of a subject from the position of an endpoint on, including future events, in its order. The
 * position advances when the broker has acknowledged everything up to it: after a crash some events are published
 * again, under the same id, and none is skipped.
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
  const began = performance.now();
  let stored = endpoint.position;
  let isKnownToWork = false;
  const store = async () => {
    const position = window.confirmed();
    const isWorking = position > endpoint.position || (window.isEmpty() && performance.now() - began > WORKS_AFTER_MS);
    if (position === stored && (isKnownToWork || !isWorking)) return true;
    [stored, isKnownToWork] = [position, isKnownToWork || isWorking];
    return moveMqttEndpoint(db, endpoint, { position, isWorking });
  };
  try {
    for (;;) {
      session.ended.throwIfAborted();
      const isReady = !signal.aborted && window.room() >= ROOM;
      const found = isReady ? await publishSome(deps, endpoint, { session, window }) : 'nothing';
      if (found === 'lease lost' || !(await store())) return;
      if (signal.aborted) break;
      if (found !== 'more') await following.wait(WAIT_MS);
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

/** Reads and publishes up to the free capacity. `more`: there may be more to read now. */
async function publishSome(
  { db, signals }: PublishDeps,
  endpoint: LeasedMqttEndpoint,
  { session, window }: { session: MqttSession; window: Window },
): Promise<'more' | 'nothing' | 'lease lost'> {
  const { subject, topic_prefix: prefix, event_types: wanted } = endpoint;
  const after = window.read();
  // The end is read first: the next round reads events that are added in between.
  const upTo = await readHeadIfLeased(db, endpoint);
  if (upTo === undefined) return 'lease lost';
  if (upTo <= after) return 'nothing';
  const limit = window.room();
  const types = wanted ? ([...new Set([...wanted, MISSED])] as EventType[]) : undefined;
  // The position of an endpoint is restored with its log.
  const events = await readOn(db, { subject, types, after, upTo, order: 'asc', limit, hasRead: false });
  for (const event of events) {
    if (!isWanted(endpoint, event, after)) {
      window.skip(event.position);
      continue;
    }
    const done = window.send(event.position);
    session.publish(topicOf(prefix, event), JSON.stringify(eventBody(event))).then(
      () => {
        signals.mqttPublished(ageOf(event));
        done();
      },
      // The session has ended, and its signal has the reason.
      () => undefined,
    );
  }
  if (events.length === limit) return 'more';
  window.skip(upTo);
  return 'nothing';
}

/** Expired events are always reported; those that webhooks missed only to endpoints that select the type. */
function isWanted(
  { endpoint_id: endpointId, event_types: eventTypes }: LeasedMqttEndpoint,
  event: LoggedEvent,
  after: number,
): boolean {
  if (event.type !== MISSED) return wants({ endpointId, eventTypes }, event);
  const { endpoint_id: webhook, first_sequence: first } = JSON.parse(event.data) as MissedData;
  return (webhook === undefined && first === after + 1) || (eventTypes?.includes(MISSED) ?? false);
}

interface MissedData {
  endpoint_id?: string;
  first_sequence: number;
}

const ageOf = ({ occurred_at: at }: LoggedEvent) => Date.now() - at.getTime();

/** Read and acknowledged parts of a log, by numbers of events. */
interface Window {
  /** Number of messages that may be sent now. */
  room: () => number;
  /** Whether everything that was sent is acknowledged. */
  isEmpty: () => boolean;
  /** The log was read up to this number. */
  read: () => number;
  /** Everything up to this number is acknowledged or not wanted. */
  confirmed: () => number;
  /** Records a sent message. @returns a function to call when it is acknowledged */
  send: (position: number) => () => void;
  /** Nothing more is wanted up to this number. */
  skip: (position: number) => void;
}

function createWindow(start: number, onAnswer: () => void): Window {
  /** Read events that are not confirmed yet, in their order. */
  const pending: { position: number; isDone: boolean }[] = [];
  let waiting = 0;
  let read = start;
  let confirmed = start;
  const move = () => {
    const open = pending.findIndex(({ isDone }) => !isDone);
    const done = pending.splice(0, open === -1 ? pending.length : open);
    confirmed = done.at(-1)?.position ?? confirmed;
  };
  return {
    room: () => IN_FLIGHT - waiting,
    isEmpty: () => waiting === 0,
    read: () => read,
    confirmed: () => confirmed,
    send: (position) => {
      const sent = { position, isDone: false };
      pending.push(sent);
      waiting += 1;
      read = position;
      return () => {
        sent.isDone = true;
        waiting -= 1;
        move();
        onAnswer();
      };
    },
    skip: (position) => {
      if (position <= read) return;
      pending.push({ position, isDone: true });
      read = position;
      move();
    },
  };
}
