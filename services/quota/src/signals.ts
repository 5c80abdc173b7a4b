import type { CounterRepair, QuotaKind, VerificationReply } from '@vision/contracts/quota';
import type { Logger } from '@vision/shared/logger';
import { createCounter, createGauge, observe } from '@vision/shared/telemetry/instruments';
import { taskOf } from './domain/reservation.ts';
import type { Closing, Reservation, ReservationRef } from './domain/reservation.ts';
import { metrics } from './metrics.ts';

export type Signals = ReturnType<typeof createSignals>;

type ReserveOutcome = (typeof metrics.reserves.labels.outcome)[number];

/** All logs and metrics of the ledger for operators. Labels have few values and never ids. */
export function createSignals(logger: Logger) {
  const reserves = createCounter(metrics.reserves);
  const closings = createCounter(metrics.closings);
  const differences = createGauge(metrics.differences);
  const repairs = createCounter(metrics.repairs);
  return {
    reserved: ({ id, subject, kind, units }: Reservation, outcome: ReserveOutcome) => {
      reserves.add(1, { kind, outcome });
      logger.info({ task_id: taskOf(id), reservation_id: id, subject, kind, units, outcome }, 'units requested');
    },
    closed: ({ id, subject }: ReservationRef, state: Closing['state'], charged: number) => {
      closings.add(1, { state });
      logger.info({ task_id: taskOf(id), reservation_id: id, subject, state, charged }, 'a reservation was closed');
    },
    verified: (found: VerificationReply['differences']) => {
      differences.record(found.length);
      if (found.length > 0) logger.error({ differences: found.slice(0, 20) }, 'counters differ from the ledger');
    },
    counterRepaired: (repaired: CounterRepair, by: { who: string; reason: string }) => {
      repairs.add(1);
      logger.warn({ ...repaired, ...by }, 'corrected quota counter from its reservations');
    },
    census: createCensus(),
    retentionRan: (removed: { reservations: number; counters: number }) => {
      if (removed.reservations + removed.counters > 0) logger.info(removed, 'old reservations were folded');
    },
  };
}

type Census = Partial<Record<QuotaKind, { count: number; oldestS: number }>>;

/** Gauges of the last census. @returns a function that stores the next one; undefined when it is not available */
function createCensus(): (next: Census | undefined) => void {
  let last: Census | undefined;
  const kinds = metrics.reservations.labels.kind;
  observe(metrics.reservations, (tell) => {
    if (last) for (const kind of kinds) tell(last[kind]?.count ?? 0, { kind });
  });
  observe(metrics.oldestReservation, (tell) => {
    if (last) for (const kind of kinds) tell(last[kind]?.oldestS ?? 0, { kind });
  });
  return (next) => {
    last = next;
  };
}
