import { counter, gauge } from '@vision/shared/telemetry/metric';

const kind = ['video', 'image'] as const;

/** Metrics of quota. */
export const metrics = {
  reserves: counter('vision.quota.reserves', {
    meaning: 'Answers to reserve',
    labels: { kind, outcome: ['granted', 'exhausted', 'conflict', 'closed', 'differs'] },
  }),
  closings: counter('vision.quota.closings', {
    meaning: 'Settlements and refunds',
    labels: { state: ['settled', 'refunded'] },
  }),
  reservations: gauge('vision.quota.reservations', {
    meaning: 'Open reservations. Every replica tells the same: use `max`',
    labels: { kind },
  }),
  oldestReservation: gauge('vision.quota.oldest_reservation_age', {
    unit: 's',
    meaning: 'Age of the oldest open reservation, 0 without one. The same on every replica',
    labels: { kind },
  }),
  differences: gauge('vision.quota.differences', {
    meaning: 'Counters that did not match the ledger at the last verification. Anything but 0 is an alarm',
  }),
  repairs: counter('vision.quota.repairs', { meaning: 'Counters set right by operators' }),
};
