import type { Knex } from 'knex';
import type { WebhookKey } from '@vision/contracts/webhook-keys';

/** Keys that changed enabled endpoints last, each once, in their order. */
export async function readKeys(
  db: Knex,
  after: { subject: string | undefined; key_id: string | undefined },
  limit: number,
): Promise<WebhookKey[]> {
  const { rows } = await db.raw<{ rows: WebhookKey[] }>(
    `select subject, key_id from (
       select subject, key_id from webhook_endpoints where is_enabled
       union all select subject, key_id from mqtt_endpoints where is_enabled) as endpoints
      where (subject, coalesce(key_id, '')) > (:subject, :keyId)
      group by subject, key_id order by subject, coalesce(key_id, '') limit :limit`,
    // Before the first subject, and before the endpoints without a key.
    { subject: after.subject ?? '', keyId: after.key_id ?? '', limit },
  );
  return rows;
}

/** Enabled endpoints that a key changed last, locked until the transaction ends. */
export async function lockEndpointsOfKey(
  tx: Knex.Transaction,
  { subject, key_id: keyId }: WebhookKey,
): Promise<{ endpoint_key: string; endpoint_id: string; host: string }[]> {
  const { rows } = await tx.raw<{ rows: { endpoint_key: string; endpoint_id: string; host: string }[] }>(
    `select endpoint_key, endpoint_id, host from webhook_endpoints
      where is_enabled and subject = :subject and key_id is not distinct from :keyId
      order by endpoint_key for update`,
    { subject, keyId },
  );
  return rows;
}

/** Removes the waiting deliveries of an endpoint. @returns their number */
export async function dropWaiting(tx: Knex.Transaction, endpointKey: string): Promise<number> {
  return tx('webhook_deliveries').where({ endpoint_key: endpointKey }).whereIn('state', ['pending', 'held']).delete();
}
