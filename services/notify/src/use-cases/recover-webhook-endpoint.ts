import { inTransaction } from '@vision/shared/db/transaction';
import { countPending, insertOrRepeat, readEntriesSince } from '../db/dispatch.ts';
import { lockEndpoint } from '../db/webhook-endpoints.ts';
import { wants } from '../domain/webhook-event.ts';
import { neededTools } from './deps.ts';
import type { Deps } from './deps.ts';
import { deliveriesOf, MAX_PENDING } from './dispatch-events.ts';
import { enabledEndpoint } from './show-endpoint.ts';

/** What is sent again, and whether that is everything. */
export interface Recovery {
  deliveries: number;
  /** Time of the first event that found no room; the request is repeated with it later. */
  continueFrom: Date | undefined;
}

const CHUNK = 500;

/**
 * Sends again, from the log, what an endpoint was not delivered since a time: what failed, was held, or was left out.
 * What was delivered or is pending stays as it is, so the request may be repeated.
 */
export async function recoverWebhookEndpoint(
  deps: Pick<Deps, 'db' | 'webhooks' | 'wakeWebhooks'>,
  subject: string,
  { endpointId, since }: { endpointId: string; since: Date },
): Promise<Recovery> {
  neededTools(deps);
  const recovery = await inTransaction(deps.db, async (tx) => {
    const row = enabledEndpoint(await lockEndpoint(tx, subject, endpointId));
    const endpoint = { endpointId, eventTypes: row.event_types };
    let room = MAX_PENDING - (await countPending(tx, row.endpoint_key, MAX_PENDING));
    let deliveries = 0;
    for (let after = 0; ;) {
      const range = { subject, after, upTo: row.position, since, limit: CHUNK };
      const entries = await readEntriesSince(tx, range);
      const wanted = entries.filter((entry) => wants(endpoint, entry));
      const chosen = wanted.slice(0, room);
      const made = await insertOrRepeat(tx, deliveriesOf(row, chosen));
      deliveries += made;
      room -= made;
      const rest = wanted[chosen.length];
      if (rest) return { deliveries, continueFrom: rest.occurred_at };
      const last = entries.at(-1);
      if (!last || entries.length < CHUNK) return { deliveries, continueFrom: undefined };
      after = last.position;
    }
  });
  deps.wakeWebhooks();
  return recovery;
}
