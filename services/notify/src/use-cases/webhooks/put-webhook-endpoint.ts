import { randomUUID } from 'node:crypto';
import { defaultLimits } from '@vision/contracts/limits';
import { fail } from '@vision/contracts/errors';
import type { Caller } from '@vision/shared/http/caller';
import { inTransaction } from '@vision/shared/db/transaction';
import {
  countEndpoints,
  disableEndpoint,
  enableEndpoint,
  insertEndpoint,
  lockEndpoint,
  lockEndpointsOf,
  replaceEndpoint,
} from '../../db/webhook-endpoints.ts';
import type { EndpointRow } from '../../db/webhook-endpoints.ts';
import { openOf, sealFor } from '../../domain/webhook-box.ts';
import { checkWebhookSecret, newWebhookSecret } from '../../domain/webhook-secret.ts';
import { parseWebhookUrl } from '../../domain/webhook-url.ts';
import { neededTools } from '../deps.ts';
import type { Deps } from '../deps.ts';
import { shownEndpoint } from './show-endpoint.ts';
import type { ShownEndpoint } from './show-endpoint.ts';

export interface EndpointRequest {
  endpointId: string;
  url: string;
  /** All types when null. */
  eventTypes: string[] | null;
  isEnabled: boolean;
  /** Chosen by the caller. */
  secret: string | undefined;
}

export interface PutResult {
  endpoint: ShownEndpoint;
  isNew: boolean;
  /** The generated secret of a new endpoint. */
  secret: string | undefined;
}

type PutDeps = Pick<Deps, 'db' | 'webhooks' | 'wakeWebhooks'>;

/** Creates an endpoint of a subject, or replaces its settings. */
export async function putWebhookEndpoint(
  deps: PutDeps,
  { subject, limits, keyId }: Pick<Caller, 'subject' | 'limits' | 'keyId'>,
  request: EndpointRequest,
): Promise<PutResult> {
  const { box, rules } = neededTools(deps);
  const url = parseWebhookUrl(request.url, rules);
  const given = request.secret === undefined ? undefined : checkWebhookSecret(request.secret);
  const most = (limits ?? defaultLimits).webhook_endpoints;
  const made = await inTransaction(deps.db, async (tx) => {
    await lockEndpointsOf(tx, subject);
    const before = await lockEndpoint(tx, subject, request.endpointId);
    if (!before && (await countEndpoints(tx, subject)) >= most) throw endpointLimitReached(most);
    const endpointKey = before?.endpoint_key ?? randomUUID();
    const sealed = (purpose: 'url' | 'secret', text: string) => sealFor(box, endpointKey, purpose, text);
    const { eventTypes, isEnabled, endpointId } = request;
    const secret = given ?? newWebhookSecret();
    if (before) {
      const isKnown = (purpose: 'url' | 'secret', stored: Buffer, text: string) =>
        openOf(box, endpointKey, purpose, stored) === text;
      const urlBox = isKnown('url', before.url_box, url.href) ? undefined : sealed('url', url.href);
      // Sending the current secret again does not end the overlap of a rotation.
      const isNewSecret = given !== undefined && !isKnown('secret', before.secret_box, given);
      const secretBox = isNewSecret ? sealed('secret', given) : undefined;
      await replaceEndpoint(tx, endpointKey, { urlBox, host: url.host, eventTypes, secretBox, keyId });
      await switchEndpoint(tx, before, isEnabled);
    } else {
      const key = { endpointKey, subject, endpointId, secretBox: sealed('secret', secret) };
      const urlBox = sealed('url', url.href);
      await insertEndpoint(tx, key, { urlBox, host: url.host, eventTypes, isEnabled, keyId });
    }
    const row = await lockEndpoint(tx, subject, request.endpointId);
    if (!row) throw new Error('an endpoint that was written under lock is not there');
    return { row, isNew: !before, secret: before || given ? undefined : secret };
  });
  deps.wakeWebhooks();
  return { endpoint: shownEndpoint(box, made.row), isNew: made.isNew, secret: made.secret };
}

type Transaction = Parameters<typeof lockEndpoint>[0];

async function switchEndpoint(tx: Transaction, before: EndpointRow, isEnabled: boolean): Promise<void> {
  if (before.is_enabled === isEnabled) return;
  if (isEnabled) await enableEndpoint(tx, before.endpoint_key);
  else await disableEndpoint(tx, before.endpoint_key, 'requested');
}

/** Error for exceeding the number of endpoints. */
export const endpointLimitReached = (most: number) =>
  fail.conflict('limit_reached', `You have ${most} webhook endpoints; delete one first.`, {
    limit: 'webhook_endpoints',
    allowed: most,
  });
