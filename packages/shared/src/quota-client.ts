import { getSubjectUsage, refundReservation, reserveUnits, settleReservation } from './contracts/quota.ts';
import type { ReserveReply, ReserveRequest, UsageReply } from './contracts/quota.ts';
import type { SubjectLimits } from './contracts/limits.ts';
import { asAppError } from './errors.ts';
import { createServiceClient } from './http/service-client.ts';
import type { ServiceClientOptions } from './http/service-client.ts';

/** What creates ask of the quota. Every method throws AppError OP-SYS-UNAVAILABLE when quota does not answer. */
export interface QuotaClient {
  /** Takes units of the day, all or none. */
  reserve: (id: string, subject: string, request: ReserveRequest) => Promise<ReserveReply>;
  /** Keeps `units` of a reservation and gives the others back. */
  settle: (id: string, subject: string, units: number) => Promise<void>;
  /** Gives all units back; also closes an id that was never reserved. */
  refund: (id: string, subject: string) => Promise<void>;
  /** Today's units of the subject against its limits. */
  usage: (subject: string, limits: DayLimits) => Promise<UsageReply>;
}

type DayLimits = Pick<SubjectLimits, 'video_tasks_per_day' | 'images_per_day'>;

export function createQuotaClient(options: Omit<ServiceClientOptions, 'audience'>): QuotaClient {
  const { ask } = createServiceClient({ ...options, audience: 'quota' });
  return {
    reserve: (id, subject, body) =>
      askAgainWhenLost(() => ask(reserveUnits, { subject, params: { reservation_id: id }, body })),
    settle: async (id, subject, units) => {
      await ask(settleReservation, { subject, params: { reservation_id: id }, body: { units } });
    },
    refund: async (id, subject) => {
      await ask(refundReservation, { subject, params: { reservation_id: id } });
    },
    usage: (subject, { video_tasks_per_day, images_per_day }) => {
      const query = { video_limit: video_tasks_per_day, image_limit: images_per_day };
      return ask(getSubjectUsage, { subject, query });
    },
  };
}

/** Once more: reserving the same id twice takes its units once. */
async function askAgainWhenLost<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (asAppError(error)?.kind !== 'unavailable') throw error;
    return ask();
  }
}
