import type { Knex } from 'knex';
import { inTransaction } from '@vision/shared/db/transaction';
import { countPending, insertOrRepeat, readEntries } from '../../db/dispatch.ts';
import { lockEndpoint } from '../../db/webhook-endpoints.ts';
import { MAX_PENDING } from '../../domain/delivery.ts';
import { wants } from '../../domain/webhook-event.ts';
import { neededTools } from '../deps.ts';
import type { Deps } from '../deps.ts';
import { deliveriesOf } from './dispatch-events.ts';
import { enabledEndpoint } from './show-endpoint.ts';

/** Deliveries to send again, and whether these are all. */
export interface Recovery {
  deliveries: number;
  /** Unix milliseconds for the next request; undefined when everything is sent. */
  continueFromMs: number | undefined;
}

const CHUNK = 500;
/** Number of events that one request processes. */
const CHUNKS = 40;
/** Numbers of events are times of logging, by clocks that differ from those of the services that created the events. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * Sends again, from the log, the undelivered events of an endpoint since a time: failed, held and skipped ones.
 * Delivered and pending ones stay unchanged, so the request may be repeated. Each step is a short transaction.
 */
export async function recoverWebhookEndpoint(
  deps: Pick<Deps, 'db' | 'webhooks' | 'wakeWebhooks'>,
  subject: string,
  { endpointId, sinceMs }: { endpointId: string; sinceMs: number },
): Promise<Recovery> {
  neededTools(deps);
  let deliveries = 0;
  let next: Step['next'] = { after: Math.max(0, sinceMs - CLOCKS_DIFFER_MS), isFull: false };
  for (let chunk = 0; next && !next.isFull && chunk < CHUNKS; chunk += 1) {
    const { after } = next;
    const step: Step = await inTransaction(deps.db, (tx) => recoverChunk(tx, subject, { endpointId, after }));
    deliveries += step.made;
    next = step.next;
  }
  deps.wakeWebhooks();
  // The next request subtracts this time again.
  return { deliveries, continueFromMs: next && next.after + CLOCKS_DIFFER_MS };
}

interface Step {
  made: number;
  /** Position to continue; undefined at the end of the log. */
  next: { after: number; isFull: boolean } | undefined;
}

async function recoverChunk(
  tx: Knex.Transaction,
  subject: string,
  { endpointId, after }: { endpointId: string; after: number },
): Promise<Step> {
  const row = enabledEndpoint(await lockEndpoint(tx, subject, endpointId));
  const room = MAX_PENDING - (await countPending(tx, row.endpoint_key, MAX_PENDING));
  const entries = await readEntries(tx, { subject, after, upTo: row.position, limit: CHUNK });
  const wanted = entries.filter((entry) => wants({ endpointId, eventTypes: row.event_types }, entry));
  const chosen = wanted.slice(0, room);
  const made = await insertOrRepeat(tx, deliveriesOf(row, chosen));
  const rest = wanted[chosen.length];
  if (rest) return { made, next: { after: rest.position - 1, isFull: true } };
  const last = entries.at(-1);
  return { made, next: last && entries.length === CHUNK ? { after: last.position, isFull: false } : undefined };
}
