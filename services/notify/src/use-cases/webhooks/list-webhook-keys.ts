import { MAX_WEBHOOK_KEYS } from '@vision/contracts/webhook-keys';
import type { WebhookKey } from '@vision/contracts/webhook-keys';
import { readKeys } from '../../db/webhook-keys.ts';
import type { Deps } from '../deps.ts';

/** Keys that changed enabled endpoints last, in their order, after one of them. */
export const listWebhookKeys = (
  { db }: Pick<Deps, 'db'>,
  after: { subject: string | undefined; key_id: string | undefined },
): Promise<WebhookKey[]> => readKeys(db, after, MAX_WEBHOOK_KEYS);
