import { closeReply, reserveReply, usageReply } from '@vision/shared/contracts/quota';
import type { ReserveReply, ReserveRequest, UsageReply } from '@vision/shared/contracts/quota';
import { asAppError } from '@vision/shared/errors';
import { createServiceClient } from '@vision/shared/http/service-client';

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
}

export function createQuotaClient(options: QuotaClientOptions): QuotaClient {
  const client = createServiceClient({ ...options, issuer: 'images', audience: 'quota' });
  const reservation = (id: string) => `/internal/v1/reservations/${encodeURIComponent(id)}`;
  return {
    reserve: (id, subject, request) =>
      twice(() => client.call(reserveReply, { method: 'PUT', path: reservation(id), subject, json: request })),
    settle: async (id, subject, units) => {
      await client.call(closeReply, {
        method: 'POST',
        path: `${reservation(id)}/settlement`,
        subject,
        json: { units },
      });
    },
    refund: async (id, subject) => {
      await client.call(closeReply, { method: 'POST', path: `${reservation(id)}/refund`, subject });
    },
    usage: (subject, { video, image }) =>
      client.call(usageReply, {
        method: 'GET',
        path: `/internal/v1/usage?video_limit=${video}&image_limit=${image}`,
        subject,
      }),
  };
}

// A lost answer is asked for again: reserving the same id twice takes the units once.
async function twice<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (asAppError(error)?.kind !== 'unavailable') throw error;
    return ask();
  }
}
