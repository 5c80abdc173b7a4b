import { findBrokersSealedOtherwise, replaceBrokerBox } from '../../db/mqtt-endpoints.ts';
import { openBroker, sealBroker } from '../../domain/mqtt-broker.ts';
import type { Deps } from '../deps.ts';

const BATCH = 100;

/**
 * Re-encrypts brokers with the first key, so that other keys can be removed.
 * @throws Error when a box cannot be opened: its key was removed too early. The box stays unchanged.
 */
export async function resealBrokers({ db, webhooks, signals }: Pick<Deps, 'db' | 'webhooks' | 'signals'>) {
  if (!webhooks) return;
  const { box, keyVersion } = webhooks;
  for (;;) {
    const rows = await findBrokersSealedOtherwise(db, keyVersion, BATCH);
    let changed = 0;
    for (const row of rows) {
      const { endpoint_key: key } = row;
      const sealed = sealBroker(box, key, openBroker(box, key, row.broker_box));
      if (await replaceBrokerBox(db, row, sealed)) changed += 1;
    }
    if (changed > 0) signals.brokersResealed(changed);
    if (rows.length < BATCH) return;
  }
}
