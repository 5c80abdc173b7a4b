import { z } from 'zod';
import { uuidForm } from './ids.ts';
import { defineQuestion } from './question.ts';

/**
 * What is asked of the quota service. `subject` is the `sub` of the service token, never a body field.
 * Reserve, settlement and refund may be repeated by reservation id without a second effect.
 */
export const quotaKind = z.enum(['video', 'image']);

const reservationPath = z.object({ reservation_id: z.string().regex(/^[\w./:-]{1,200}$/) });

export const reserveRequest = z
  .object({
    idempotency_key: uuidForm.describe('Key of the creating request'),
    kind: quotaKind,
    units: z.int().min(1).max(1000),
    limit: z.int().min(0).describe('Units a day for this subject'),
  })
  .meta({ id: 'NewReservation' });

const quotaState = z.object({
  limit: z.int(),
  used: z.int(),
  requested: z.int(),
  resets_at: z.iso.datetime({ offset: true }),
});

export const reserveReply = z
  .discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('granted') }),
    /** Not enough units left today; nothing was taken. */
    quotaState.extend({ outcome: z.literal('exhausted') }),
    /** The idempotency key was used for the other kind of request. */
    z.object({ outcome: z.literal('conflict') }),
    /** This id was settled or refunded already; it never charges again. */
    z.object({ outcome: z.literal('closed') }),
  ])
  .meta({ id: 'ReservationOutcome' });

/** Take units of today, all or none. */
export const reserveUnits = defineQuestion({
  method: 'put',
  path: '/internal/v1/reservations/{reservation_id}',
  params: reservationPath,
  body: reserveRequest,
  reply: reserveReply,
});

/** What the reservation charges in the end. */
export const closeReply = z.object({ charged: z.int().min(0) }).meta({ id: 'ReservationCharge' });

export const settleRequest = z.object({ units: z.int().min(0).max(1000) }).meta({ id: 'Settlement' });

/**
 * Keep `units`, give the rest back: the request was accepted, so its idempotency key stays taken, also with 0 units.
 */
export const settleReservation = defineQuestion({
  method: 'post',
  path: '/internal/v1/reservations/{reservation_id}/settlement',
  params: reservationPath,
  body: settleRequest,
  reply: closeReply,
});

/**
 * Give all units back to the day they were taken from: the request was rolled back, so its idempotency key is free.
 * Also closes an id that was never reserved.
 */
export const refundReservation = defineQuestion({
  method: 'post',
  path: '/internal/v1/reservations/{reservation_id}/refund',
  params: reservationPath,
  reply: closeReply,
});

const usage = z
  .object({
    limit: z.int().describe('Units per day'),
    used: z.int().describe('Units used today, including units reserved for work in progress'),
    remaining: z.int(),
    resets_at: z.iso.datetime({ offset: true }).describe('Start of the next quota day, 00:00 UTC+8'),
  })
  .meta({ id: 'DailyUsage', description: "Usage of one of the day's quotas" });

/** Also the answer of the public `/v1/vision/usage`. */
export const usageReply = z.object({ video: usage, image: usage }).meta({ id: 'Usage' });

export const exampleUsage: z.infer<typeof usageReply> = {
  video: { limit: 5, used: 2, remaining: 3, resets_at: '2026-03-16T00:00:00+08:00' },
  image: { limit: 100, used: 37, remaining: 63, resets_at: '2026-03-16T00:00:00+08:00' },
};

const usageDay = z
  .object({
    day: z.iso.date().describe('Quota day, YYYY-MM-DD in UTC+8'),
    video: z.int().describe('Video tasks charged, including work in progress'),
    image: z.int().describe('Images charged, including work in progress'),
  })
  .meta({ id: 'UsageDay', description: 'Usage of one day' });

/** The answer of the public `/v1/vision/usage/days`. */
export const usageDaysReply = z.object({ items: z.array(usageDay) }).meta({ id: 'UsageDays' });

export const exampleUsageDays: z.infer<typeof usageDaysReply> = {
  items: [
    { day: '2026-03-14', video: 5, image: 12 },
    { day: '2026-03-15', video: 2, image: 37 },
  ],
};

const unitsADay = z.coerce.number<string>().int().min(0);

/** Today's usage of the token's subject against these limits. */
export const getSubjectUsage = defineQuestion({
  method: 'get',
  path: '/internal/v1/usage',
  query: z.object({ video_limit: unitsADay, image_limit: unitsADay }),
  reply: usageReply,
});

export const verificationReply = z
  .object({
    counters: z.int(),
    reservations: z.int(),
    differences: z
      .array(
        z.object({
          subject: z.string(),
          kind: z.string(),
          day: z.string().describe('YYYY-MM-DD in UTC+8'),
          used: z.int().describe('Value of the counter'),
          ledger: z.int().describe('Sum of its reservations'),
        }),
      )
      .describe('At most 1000'),
  })
  .meta({ id: 'LedgerVerification' });

/** Every counter recomputed from the ledger. Empty `differences` means that all is well. */
export const verifyLedger = defineQuestion({
  method: 'post',
  path: '/internal/v1/verify',
  reply: verificationReply,
});

const openReservations = z
  .object({ items: z.array(z.object({ reservation_id: z.string(), subject: z.string(), units: z.int() })) })
  .meta({ id: 'OpenReservations' });

/**
 * Open reservations of a kind that have not been asked about for a while, oldest question first. Each comes again
 * later: first after a minute, then after as long as it is old, an hour at most.
 */
export const claimOpenReservations = defineQuestion({
  method: 'post',
  path: '/internal/v1/open-reservations',
  body: z.object({ kind: quotaKind, limit: z.int().min(1).max(500) }),
  reply: openReservations,
});

/** Which of these reservations are open. */
export const findOpenReservations = defineQuestion({
  method: 'post',
  path: '/internal/v1/open-reservations/find',
  body: z.object({ reservation_ids: z.array(z.string().max(200)).max(500) }),
  reply: openReservations,
});

export const counterRepair = z
  .object({
    subject: z.string(),
    kind: quotaKind,
    day: z.iso.date().describe('YYYY-MM-DD in UTC+8'),
    used_before: z.int(),
    used_after: z.int().describe('Sum of its reservations'),
  })
  .meta({ id: 'CounterRepair' });

/** Correct a counter from its reservations; kept with who asked for it and why. */
export const repairCounter = defineQuestion({
  method: 'post',
  path: '/internal/v1/counters/repair',
  body: z.object({
    subject: z.string(),
    kind: quotaKind,
    day: z.iso.date(),
    who: z.string().max(200),
    reason: z.string().min(1).max(1000),
  }),
  reply: counterRepair,
  refusals: ['not_found'],
});

export const endedReservation = z
  .object({
    reservation_id: z.string(),
    subject: z.string(),
    units: z.int(),
    charged: z.int().describe('Final charge to its subject, in units'),
  })
  .meta({ id: 'EndedReservation' });

/** End an open reservation by hand: keep its units or give them back. */
export const endReservation = defineQuestion({
  method: 'post',
  path: '/internal/v1/open-reservations/end',
  body: z.object({
    reservation_id: z.string().max(200),
    outcome: z.enum(['charge', 'refund']),
    who: z.string().max(200),
  }),
  reply: endedReservation,
  refusals: ['not_found', 'conflict'],
});

export type EndedReservation = z.infer<typeof endedReservation>;
export type OpenReservation = z.infer<typeof openReservations>['items'][number];
export type QuotaKind = z.infer<typeof quotaKind>;
export type ReserveRequest = z.infer<typeof reserveRequest>;
export type ReserveReply = z.infer<typeof reserveReply>;
export type CloseReply = z.infer<typeof closeReply>;
export type UsageDay = z.infer<typeof usageDay>;
export type UsageReply = z.infer<typeof usageReply>;
export type VerificationReply = z.infer<typeof verificationReply>;
export type CounterRepair = z.infer<typeof counterRepair>;
