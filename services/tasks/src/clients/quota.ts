import { closeReply, reserveReply, usageReply } from '@vision/shared/contracts/quota';
import type { ReserveReply } from '@vision/shared/contracts/quota';
import { asAppError, fail } from '@vision/shared/errors';
import { createServiceClient } from '@vision/shared/http/service-client';

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
}

export function createQuotaClient(options: QuotaClientOptions): QuotaClient {
  const { call } = createServiceClient({ ...options, issuer: 'tasks', audience: 'quota' });
  const reservation = (id: string) => `/internal/v1/reservations/${encodeURIComponent(id)}`;
  return {
    reserve(id, { subject, key, limit }) {
      const json = { idempotency_key: key, kind: 'video', units: 1, limit };
      return twice(() => call(reserveReply, { method: 'PUT', path: reservation(id), subject, json }));
    },
    async refund(id, subject) {
      await call(closeReply, { method: 'POST', path: `${reservation(id)}/refund`, subject });
    },
    async assertSomeLeft(subject, limit) {
      const path = `/internal/v1/usage?video_limit=${limit}&image_limit=0`;
      const { video } = await call(usageReply, { method: 'GET', path, subject });
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
async function twice<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (asAppError(error)?.kind !== 'unavailable') throw error;
    return ask();
  }
}
