import { z } from 'zod';

/**
 * Internal API of the quota service. `subject` is the `sub` of the service token, never a body field.
 * All four calls may be repeated by reservation id without a second effect.
 */
export const quotaKind = z.enum(['video', 'image']);

/** `PUT /internal/v1/reservations/{reservation_id}` (the id is percent-encoded). */
export const reserveRequest = z.strictObject({
  idempotency_key: z.uuid().describe('Lower-case key of the creating request'),
  kind: quotaKind,
  units: z.int().min(1).max(1000),
  limit: z.int().min(0).describe('Units a day for this subject'),
});

const quotaState = z.object({
  limit: z.int(),
  used: z.int(),
  requested: z.int(),
  resets_at: z.iso.datetime({ offset: true }),
});

export const reserveReply = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('granted') }),
  /** Not enough units left today; nothing was taken. */
  quotaState.extend({ outcome: z.literal('exhausted') }),
  /** The idempotency key was used for the other kind of request. */
  z.object({ outcome: z.literal('conflict') }),
  /** This id was settled or refunded already; it never charges again. */
  z.object({ outcome: z.literal('closed') }),
]);

/** `POST /internal/v1/reservations/{id}/settlement`: keep `units`, give the rest back. */
export const settleRequest = z.strictObject({ units: z.int().min(0).max(1000) });
/** Reply of settlement and `POST …/{id}/refund`: what the reservation charges in the end. */
export const closeReply = z.object({ charged: z.int().min(0) });

const usage = z.object({
  limit: z.int(),
  used: z.int(),
  remaining: z.int(),
  resets_at: z.iso.datetime({ offset: true }).describe('00:00 UTC+8 of the next day'),
});

/** `GET /internal/v1/usage?video_limit=&image_limit=` and the public `/v1/vision/usage`. */
export const usageReply = z.object({ video: usage, image: usage });

/** `POST /internal/v1/verify`: every counter recomputed from the ledger. Empty `differences` means that all is well. */
export const verificationReply = z.object({
  counters: z.int(),
  reservations: z.int(),
  differences: z
    .array(
      z.object({
        subject: z.string(),
        kind: z.string(),
        day: z.string().describe('YYYY-MM-DD in UTC+8'),
        used: z.int().describe('What the counter says'),
        ledger: z.int().describe('What its reservations add up to'),
      }),
    )
    .describe('At most 1000'),
});

export type QuotaKind = z.infer<typeof quotaKind>;
export type ReserveRequest = z.infer<typeof reserveRequest>;
export type ReserveReply = z.infer<typeof reserveReply>;
export type CloseReply = z.infer<typeof closeReply>;
export type UsageReply = z.infer<typeof usageReply>;
export type VerificationReply = z.infer<typeof verificationReply>;
