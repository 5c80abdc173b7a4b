import { meter } from '@vision/shared/telemetry';
import type { Logger } from '@vision/shared/logger';
import type { QuotaKind } from '@vision/shared/contracts/quota';
import type { Difference } from './db/verification.ts';

export type Signals = ReturnType<typeof createSignals>;

export function createSignals(logger: Logger) {
  const reserves = meter('quota').createCounter('vision.quota.reserves', { description: 'Reserve calls by outcome' });
  const closings = meter('quota').createCounter('vision.quota.closings', { description: 'Settle and refund calls' });
  const differences = meter('quota').createGauge('vision.quota.differences', {
    description: 'Counters that did not match the ledger at the last verification; anything but 0 is an alarm',
  });
  return {
    reserved: (kind: QuotaKind, outcome: string) => reserves.add(1, { kind, outcome }),
    closed: (state: string) => closings.add(1, { state }),
    verified: (found: Difference[]) => {
      differences.record(found.length);
      if (found.length > 0) logger.error({ differences: found.slice(0, 20) }, 'counters differ from the ledger');
    },
    retentionRan: (removed: { reservations: number; counters: number }) => {
      if (removed.reservations + removed.counters > 0) logger.info(removed, 'old reservations were folded');
    },
  };
}
