import { getSubjectUsage, refundReservation, reserveUnits } from '@vision/shared/contracts/quota';
import type { ReserveReply } from '@vision/shared/contracts/quota';
import { asAppError, fail } from '@vision/shared/errors';
import { createServiceClient } from '@vision/shared/http/service-client';
import type { Logger } from '@vision/shared/logger';

/** What a video task asks of the quota. Every method throws AppError OP-SYS-UNAVAILABLE when quota does not answer. */
export interface QuotaClient {
  /** Takes one unit of the day. */
  reserve: (id: string, request: { subject: string; key: string; limit: number }) => Promise<ReserveReply>;
  /** Gives the unit back; also closes an id that was never reserved. */
  refund: (id: string, subject: string) => Promise<void>;
  /** @throws AppError OP-QUOTA-DAILY-EXHAUSTED when nothing is left of the day. */
  assertSomeLeft: (subject: string, limit: number) => Promise<void>;
}

export interface QuotaClientOptions {
  baseUrl: string;
  tokenKey: string;
  timeoutMs: number;
  logger: Logger;
}

export function createQuotaClient(options: QuotaClientOptions): QuotaClient {
  const { ask } = createServiceClient({ ...options, issuer: 'tasks', audience: 'quota' });
  return {
    reserve(id, { subject, key, limit }) {
      const body = { idempotency_key: key, kind: 'video' as const, units: 1, limit };
      return twice(() => ask(reserveUnits, { subject, params: { reservation_id: id }, body }));
    },
    async refund(id, subject) {
      await ask(refundReservation, { subject, params: { reservation_id: id } });
    },
    async assertSomeLeft(subject, limit) {
      const { video } = await ask(getSubjectUsage, { subject, query: { video_limit: limit, image_limit: 0 } });
      if (video.remaining < 1) throw exhausted({ ...video, requested: 1 });
    },
  };
}

/** The refusal of a day that is used up; `Retry-After` points at its end. */
export function exhausted({
  limit,
  used,
  requested,
  resets_at,
}: {
  limit: number;
  used: number;
  requested: number;
  resets_at: string;
}) {
  const seconds = Math.max(1, Math.ceil((Date.parse(resets_at) - Date.now()) / 1000));
  return fail.dailyExhausted({ limit, used, requested, resets_at }, seconds);
}

// A lost answer is asked for again: reserving the same id twice takes the unit once.
async function twice<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (asAppError(error)?.kind !== 'unavailable') throw error;
    return work();
  }
}
