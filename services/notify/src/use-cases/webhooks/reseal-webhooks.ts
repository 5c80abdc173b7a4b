import { findSealedOtherwise, replaceBoxes } from '../../db/webhook-endpoints.ts';
import type { SealedRow } from '../../db/webhook-endpoints.ts';
import { openOf, sealFor } from '../../domain/webhook-box.ts';
import type { BoxPurpose } from '../../domain/webhook-box.ts';
import type { Deps, WebhookTools } from '../deps.ts';

const BATCH = 100;

/**
 * Re-encrypts addresses and secrets with the first key, so that other keys can be removed.
 * @throws Error when a box cannot be opened: its key was removed too early. The box stays unchanged.
 */
export async function resealWebhooks({ db, webhooks, signals }: Pick<Deps, 'db' | 'webhooks' | 'signals'>) {
  if (!webhooks) return;
  for (;;) {
    const rows = await findSealedOtherwise(db, webhooks.keyVersion, BATCH);
    let changed = 0;
    for (const row of rows) if (await replaceBoxes(db, row, resealed(webhooks, row))) changed += 1;
    if (changed > 0) signals.endpointsResealed(changed);
    if (rows.length < BATCH) return;
  }
}

function resealed({ box }: WebhookTools, row: SealedRow): SealedRow {
  const key = row.endpoint_key;
  const anew = (purpose: BoxPurpose, sealed: Buffer) => sealFor(box, key, purpose, openOf(box, key, purpose, sealed));
  return {
    endpoint_key: key,
    url_box: anew('url', row.url_box),
    secret_box: anew('secret', row.secret_box),
    old_secret_box: row.old_secret_box && anew('secret', row.old_secret_box),
  };
}
