import { v7 as uuidv7 } from 'uuid';
import { fail } from '@vision/contracts/errors';
import { inTransaction } from '@vision/shared/db/transaction';
import { insertDeliveries } from '../../db/dispatch.ts';
import { appendToLog, countSince } from '../../db/event-log.ts';
import { lockEndpoint } from '../../db/webhook-endpoints.ts';
import { testEvent } from '../../domain/webhook-event.ts';
import { neededTools } from '../deps.ts';
import type { Deps } from '../deps.ts';
import { enabledEndpoint } from './show-endpoint.ts';

/** Test events of a subject within a minute. */
export const TESTS_PER_MINUTE = 6;

/** Logs a test event and sends it to one endpoint. @returns the id of its delivery */
export async function testWebhookEndpoint(
  deps: Pick<Deps, 'db' | 'webhooks' | 'wakeWebhooks' | 'signals'>,
  subject: string,
  endpointId: string,
): Promise<string> {
  neededTools(deps);
  const deliveryId = uuidv7();
  const event = testEvent({ subject, endpointId, occurredAt: new Date() }, deliveryId);
  await inTransaction(deps.db, async (tx) => {
    const { endpoint_key } = enabledEndpoint(await lockEndpoint(tx, subject, endpointId));
    // Appending locks the log of the subject, so tests of one subject are counted one after the other.
    const position = await appendToLog(tx, event);
    if (position === undefined) throw new Error('the event of a new test is in the log already');
    if ((await countSince(tx, subject, event.type, 60)) > TESTS_PER_MINUTE) throw tooManyTests();
    const { eventId: event_id, type } = event;
    const delivery = { delivery_id: deliveryId, endpoint_key, subject, position, event_id, type, task_id: null };
    await insertDeliveries(tx, [delivery]);
  });
  deps.signals.eventLogged(event);
  deps.wakeWebhooks();
  return deliveryId;
}

export const tooManyTests = () =>
  fail.rateLimited('webhook_test_rate', 60, { limit: 'webhook_tests_per_minute', allowed: TESTS_PER_MINUTE });
