import { createWakeUp } from '@vision/shared/async/wake-up';
import { createPoller } from '@vision/shared/async/poller';
import type { Logger } from '@vision/shared/logger';
import { claimDeliveries, releaseDelivery } from '../../db/webhook-deliveries.ts';
import type { ClaimedDelivery } from '../../db/webhook-deliveries.ts';
import { slotsFor } from '../../domain/delivery.ts';
import { createHostPace } from '../../domain/host-pace.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import type { BusyCounts } from './busy-counts.ts';
import type { AttemptDeps } from '../deps.ts';
import { createRecordAttempt } from './record-attempt.ts';

/** Sends deliveries that are due. */
export interface Deliverer {
  start: () => void;
  /** Checks for due deliveries now. */
  wake: () => void;
  /** Ends running requests; their deliveries are due again at once. */
  stop: () => Promise<void>;
}

/** Longer than an attempt; after it another process sends the deliveries of a dead one. */
const LEASE_MS = 60_000;
/** Requests a second to one host, over all subjects. */
const HOST_RATE = 50;

interface DelivererDeps extends AttemptDeps {
  logger: Logger;
  intervalMs: number;
  /** Counts running webhooks. */
  busy: BusyCounts;
}

export function createDeliverer(deps: DelivererDeps): Deliverer {
  const { db, logger, intervalMs, busy } = deps;
  const wakeUp = createWakeUp();
  const pace = createHostPace(HOST_RATE);
  const record = createRecordAttempt(deps);
  const underWay = new Set<Promise<void>>();
  const stopping = new AbortController();

  const attempt = async (claimed: ClaimedDelivery) => {
    busy.begin(claimed);
    try {
      await attemptDelivery(deps, claimed, { pace, record, signal: stopping.signal });
    } catch (error) {
      // For any cause: the delivery is due again when its lease has expired.
      if (stopping.signal.aborted) await releaseDelivery(db, claimed).catch(() => undefined);
      else logger.error({ err: error, delivery_id: claimed.delivery_id }, 'a webhook could not be attempted');
    } finally {
      busy.end(claimed);
      wakeUp.wake();
    }
  };

  const claim = async () => {
    const slots = slotsFor(underWay.size);
    if (slots.limit === 0) return 0;
    const claimed = await claimDeliveries(db, { ...slots, leaseMs: LEASE_MS, busy });
    for (const one of claimed) {
      const work = attempt(one).finally(() => underWay.delete(work));
      underWay.add(work);
    }
    return claimed.length;
  };

  const poller = createPoller({ name: 'webhook-deliveries', intervalMs, run: claim, logger, wakeUp });
  return {
    start: poller.start,
    wake: poller.wake,
    stop: async () => {
      stopping.abort(new Error('the process stops'));
      await poller.stop();
      await Promise.allSettled(underWay);
    },
  };
}
