import { getSubjectUsage, refundReservation, reserveUnits, settleReservation } from '@vision/shared/contracts/quota';
import type { ReserveReply, ReserveRequest, UsageReply } from '@vision/shared/contracts/quota';
import { asAppError } from '@vision/shared/errors';
import { createServiceClient } from '@vision/shared/http/service-client';
import type { Logger } from '@vision/shared/logger';

/** What image calls ask of the quota. Every method throws AppError OP-SYS-UNAVAILABLE when quota does not answer. */
export interface QuotaClient {
  reserve: (id: string, subject: string, request: ReserveRequest) => Promise<ReserveReply>;
  /** Keeps `units` of a reservation. */
  settle: (id: string, subject: string, units: number) => Promise<void>;
  refund: (id: string, subject: string) => Promise<void>;
  usage: (subject: string, limits: { video: number; image: number }) => Promise<UsageReply>;
}

export interface QuotaClientOptions {
  baseUrl: string;
  tokenKey: string;
  timeoutMs: number;
  logger: Logger;
}

export function createQuotaClient(options: QuotaClientOptions): QuotaClient {
  const { ask } = createServiceClient({ ...options, issuer: 'images', audience: 'quota' });
  return {
    reserve: (id, subject, request) =>
      twice(() => ask(reserveUnits, { subject, params: { reservation_id: id }, body: request })),
    settle: async (id, subject, units) => {
      await ask(settleReservation, { subject, params: { reservation_id: id }, body: { units } });
    },
    refund: async (id, subject) => {
      await ask(refundReservation, { subject, params: { reservation_id: id } });
    },
    usage: (subject, { video, image }) =>
      ask(getSubjectUsage, { subject, query: { video_limit: video, image_limit: image } }),
  };
}

// A lost answer is asked for again: reserving the same id twice takes the units once.
async function twice<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (asAppError(error)?.kind !== 'unavailable') throw error;
    return work();
  }
}
