import type { Knex } from 'knex';
import { v7 as uuidv7 } from 'uuid';
import { crashPoint } from '@vision/shared/crash-point';
import { inTransaction } from '@vision/shared/db/transaction';
import {
  countPending,
  findBehind,
  insertDeliveries,
  lockBehind,
  moveEndpoint,
  readEntries,
} from '../../db/dispatch.ts';
import type { BehindEndpoint, LogEntry, NewDelivery } from '../../db/dispatch.ts';
import { appendToLog, countEvents, readHead } from '../../db/event-log.ts';
import { MAX_PENDING, ROOM_TO_GO_ON } from '../../domain/delivery.ts';
import { missedEvent, wants } from '../../domain/webhook-event.ts';
import type { Deps } from '../deps.ts';

type DispatchDeps = Pick<Deps, 'db' | 'signals' | 'cursors'>;

const ENDPOINTS = 100;
const EVENTS = 500;

/**
 * Creates deliveries of logged events, for endpoints that have not received all of their log. Each endpoint has its own
 * position in the log, which advances in the transaction of its deliveries; a failing endpoint blocks no other.
 * @returns the number of endpoints that advanced
 * @throws AggregateError of all failures, after all other endpoints.
 */
export async function dispatchEvents(deps: DispatchDeps): Promise<number> {
  let moved = 0;
  const failures: unknown[] = [];
  for (const endpointKey of await findBehind(deps.db, ENDPOINTS)) {
    try {
      if (await dispatchOne(deps, endpointKey)) moved += 1;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'some webhook endpoints were not dispatched to');
  return moved;
}

async function dispatchOne(deps: DispatchDeps, endpointKey: string): Promise<boolean> {
  const dispatched = await inTransaction(deps.db, async (tx) => {
    const endpoint = await lockBehind(tx, endpointKey);
    if (!endpoint) return undefined;
    const progress = await dispatchTo(deps, tx, endpoint);
    crashPoint('notify.deliveries_made');
    return progress;
  });
  if (dispatched?.missed) {
    const { host, range } = dispatched.missed;
    deps.signals.eventsMissed({ host, events: await countEvents(deps.db, range) });
  }
  return dispatched?.hasMoved ?? false;
}

interface Dispatched {
  hasMoved: boolean;
  /** Skipped events that were reported to the endpoint. */
  missed: { host: string; range: { subject: string; after: number; upTo: number } } | undefined;
}

async function dispatchTo(deps: DispatchDeps, tx: Knex.Transaction, endpoint: BehindEndpoint): Promise<Dispatched> {
  const { endpoint_key, subject, position, missed_after } = endpoint;
  const free = MAX_PENDING - (await countPending(tx, endpoint_key, MAX_PENDING));
  const isLeftOut = missed_after !== null && free < ROOM_TO_GO_ON;
  const head = await readHead(tx, subject);
  if (missed_after !== null && !isLeftOut) {
    // The event comes after the missed ones, so the endpoint gets it, and all later ones, in the next round.
    const upTo = head;
    await tellMissed(deps, tx, endpoint, { after: missed_after, upTo });
    await moveEndpoint(tx, { endpoint_key, position: upTo, missed_after: null });
    return { hasMoved: true, missed: { host: endpoint.host, range: { subject, after: missed_after, upTo } } };
  }
  const room = isLeftOut ? 0 : free;
  const entries = await readEntries(tx, { subject, after: position, upTo: head, limit: EVENTS });
  const wanted = entries.filter((entry) => wants(wishOf(endpoint), entry));
  const chosen = wanted.slice(0, room);
  await insertDeliveries(tx, deliveriesOf(endpoint, chosen));
  const next = entries.length === EVENTS ? (entries.at(-1)?.position ?? head) : head;
  const firstLeftOut = wanted[chosen.length];
  const missed = missed_after ?? (firstLeftOut ? firstLeftOut.position - 1 : null);
  await moveEndpoint(tx, { endpoint_key, position: next, missed_after: missed });
  return { hasMoved: next > position, missed: undefined };
}

const wishOf = ({ endpoint_id: endpointId, event_types: eventTypes }: BehindEndpoint) => ({ endpointId, eventTypes });

async function tellMissed(
  { cursors }: DispatchDeps,
  tx: Knex.Transaction,
  { endpoint_key, endpoint_id: endpointId, subject }: BehindEndpoint,
  { after, upTo }: { after: number; upTo: number },
): Promise<void> {
  const cursor = cursors.encode(subject, { order: 'oldest', position: after, head: after });
  const about = { subject, endpointId, occurredAt: new Date() };
  await appendToLog(tx, missedEvent(about, endpoint_key, { after, upTo, cursor }));
}

/** One new delivery for each event. */
export const deliveriesOf = (
  { endpoint_key, subject }: Pick<BehindEndpoint, 'endpoint_key' | 'subject'>,
  entries: Pick<LogEntry, 'position' | 'event_id' | 'type' | 'task_id'>[],
): NewDelivery[] =>
  entries.map(({ position, event_id, type, task_id }) => ({
    delivery_id: uuidv7(),
    endpoint_key,
    subject,
    position,
    event_id,
    type,
    task_id,
  }));
