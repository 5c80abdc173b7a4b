import { inTransaction } from '@vision/shared/db/transaction';
import { lockEndpoint, replaceSecret } from '../../db/webhook-endpoints.ts';
import { openOf, sealFor } from '../../domain/webhook-box.ts';
import { checkWebhookSecret, newWebhookSecret } from '../../domain/webhook-secret.ts';
import { neededTools } from '../deps.ts';
import type { Deps } from '../deps.ts';
import { foundEndpoint } from './show-endpoint.ts';

export interface RotationRequest {
  endpointId: string;
  /** Seconds during which webhooks are signed with both secrets. */
  overlapS: number;
  /** Chosen by the caller; makes the request repeatable. */
  secret: string | undefined;
}

/** Replaces the secret of an endpoint. A request with the current secret changes nothing. */
export async function rotateWebhookSecret(
  deps: Pick<Deps, 'db' | 'webhooks'>,
  subject: string,
  { endpointId, overlapS, secret: given }: RotationRequest,
): Promise<{ secret: string | undefined; oldSecretExpiresAt: Date | null }> {
  const { box } = neededTools(deps);
  const secret = given === undefined ? newWebhookSecret() : checkWebhookSecret(given);
  const oldSecretExpiresAt = await inTransaction(deps.db, async (tx) => {
    const row = foundEndpoint(await lockEndpoint(tx, subject, endpointId));
    const key = row.endpoint_key;
    if (openOf(box, key, 'secret', row.secret_box) === secret) return row.old_secret_until;
    return replaceSecret(tx, key, { secretBox: sealFor(box, key, 'secret', secret), overlapS });
  });
  return { secret: given === undefined ? secret : undefined, oldSecretExpiresAt };
}
