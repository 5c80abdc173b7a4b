import type { CounterRepair, VerificationReply } from '@vision/shared/contracts/quota';
import type { Logger } from '@vision/shared/logger';
import { meter } from '@vision/shared/telemetry';
import { taskOf } from './domain/reservation.ts';
import type { Reservation, ReservationRef } from './domain/reservation.ts';

export type Signals = ReturnType<typeof createSignals>;

/** Everything that the ledger tells an operator, in one place. Labels are few and never ids. */
export function createSignals(logger: Logger) {
  const reserves = meter('quota').createCounter('vision.quota.reserves', { description: 'Reserve calls by outcome' });
  const closings = meter('quota').createCounter('vision.quota.closings', { description: 'Settle and refund calls' });
  const differences = meter('quota').createGauge('vision.quota.differences', {
    description: 'Counters that did not match the ledger at the last verification; anything but 0 is an alarm',
  });
  const repairs = meter('quota').createCounter('vision.quota.repairs', {
    description: 'Counters set right by operators',
  });
  return {
    reserved: ({ id, subject, kind, units }: Reservation, outcome: string) => {
      reserves.add(1, { kind, outcome });
      logger.info({ task_id: taskOf(id), reservation_id: id, subject, kind, units, outcome }, 'units were asked for');
    },
    closed: ({ id, subject }: ReservationRef, state: string, charged: number) => {
      closings.add(1, { state });
      logger.info({ task_id: taskOf(id), reservation_id: id, subject, state, charged }, 'a reservation was closed');
    },
    verified: (found: VerificationReply['differences']) => {
      differences.record(found.length);
      if (found.length > 0) logger.error({ differences: found.slice(0, 20) }, 'counters differ from the ledger');
    },
    counterRepaired: (repaired: CounterRepair, by: { who: string; reason: string }) => {
      repairs.add(1);
      logger.warn({ ...repaired, ...by }, 'a counter was set to what its reservations add up to');
    },
    retentionRan: (removed: { reservations: number; counters: number }) => {
      if (removed.reservations + removed.counters > 0) logger.info(removed, 'old reservations were folded');
    },
  };
}
