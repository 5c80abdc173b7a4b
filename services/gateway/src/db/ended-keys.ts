import type { Knex } from 'knex';
import type { EndedKey, WebhookKey } from '@vision/contracts/webhook-keys';

/**
 * Returns the revoked keys, and those whose subject has no valid key. A key that has expired while its subject has
 * others, such as a replaced one, has not ended. Neither has a key that this database does not know, or whose subject
 * it does not know: the database was restored.
 */
export async function findEndedKeys(db: Knex, keys: readonly WebhookKey[]): Promise<EndedKey[]> {
  const { rows } = await db.raw<{ rows: EndedKey[] }>(
    `select w.subject, w.key_id, case when k.revoked_at is null then 'no_key' else 'key_revoked' end as reason
       from unnest(:subjects::text[], :keyIds::text[]) as w(subject, key_id)
       left join api_keys as k on k.key_id = w.key_id and k.subject = w.subject
      where k.revoked_at is not null
         or ((w.key_id is null or k.key_id is not null)
             and exists (select from api_keys as own where own.subject = w.subject)
             and not exists (
               select from api_keys as own where own.subject = w.subject and own.revoked_at is null
                  and (own.expires_at is null or own.expires_at > now())))`,
    { subjects: keys.map(({ subject }) => subject), keyIds: keys.map(({ key_id }) => key_id) },
  );
  return rows;
}
