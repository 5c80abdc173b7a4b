import {
  claimOpenReservations,
  findOpenReservations,
  getSubjectUsage,
  refundReservation,
  reserveUnits,
  settleReservation,
} from '@vision/contracts/quota';
import type { OpenReservation, QuotaKind, ReserveReply, ReserveRequest, UsageReply } from '@vision/contracts/quota';
import type { SubjectLimits } from '@vision/contracts/limits';
import { asAppError } from '@vision/contracts/errors';
import { createServiceClient } from '@vision/shared/http/service-client';
import type { ServiceClientOptions } from '@vision/shared/http/service-client';

/** What creates ask of the quota. Every method throws AppError OP-SYS-UNAVAILABLE when quota does not answer. */
export interface QuotaClient {
  /**
   * Takes units of the day, all or none. Asked once more when no answer comes, because reserving one id twice takes its
   * units once. A refusal means that no unit is taken and none will be under this id.
   */
  reserve: (id: string, subject: string, request: ReserveRequest) => Promise<ReserveReply>;
  /** Keeps `units` of a reservation and gives the others back. */
  settle: (id: string, subject: string, units: number) => Promise<void>;
  /** Gives all units back; also closes an id that was never reserved. */
  refund: (id: string, subject: string) => Promise<void>;
  /** Today's units of the subject against its limits. */
  usage: (subject: string, limits: DayLimits) => Promise<UsageReply>;
  /** A page of open reservations whose turn it is to be compared with what they are held for. */
  claimOpen: (kind: QuotaKind, limit: number) => Promise<OpenReservation[]>;
  /** Which of these are open. */
  findOpen: (ids: string[]) => Promise<OpenReservation[]>;
}

/** Subject of questions that are asked for no subject. */
const AUDITOR = 'auditor';

type DayLimits = Pick<SubjectLimits, 'video_tasks_per_day' | 'images_per_day'>;

export function createQuotaClient(options: Omit<ServiceClientOptions, 'audience'>): QuotaClient {
  const { ask } = createServiceClient({ ...options, audience: 'quota' });
  const refund = async (id: string, subject: string) => {
    await ask(refundReservation, { subject, params: { reservation_id: id } });
  };
  return {
    reserve: async (id, subject, body) => {
      const askOnce = (number: number) =>
        ask(reserveUnits, { subject, params: { reservation_id: id }, body, attempt: { number, of: 2 } });
      try {
        return await askOnce(1);
      } catch (error) {
        if (asAppError(error)?.kind !== 'unavailable') throw error;
      }
      const reply = await askOnce(2);
      // The lost try may still be granted, by a replica that wakes up; a refund by its id closes it for good.
      if (reply.outcome !== 'granted') await refund(id, subject);
      return reply;
    },
    settle: async (id, subject, units) => {
      await ask(settleReservation, { subject, params: { reservation_id: id }, body: { units } });
    },
    refund,
    usage: (subject, { video_tasks_per_day, images_per_day }) => {
      const query = { video_limit: video_tasks_per_day, image_limit: images_per_day };
      return ask(getSubjectUsage, { subject, query });
    },
    claimOpen: async (kind, limit) =>
      (await ask(claimOpenReservations, { subject: AUDITOR, body: { kind, limit } })).items,
    findOpen: async (ids) =>
      (await ask(findOpenReservations, { subject: AUDITOR, body: { reservation_ids: ids } })).items,
  };
}
