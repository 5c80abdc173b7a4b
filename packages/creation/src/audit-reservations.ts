import type { Knex } from 'knex';
import type { OpenReservation, QuotaKind } from '@vision/contracts/quota';
import type { QuotaClient } from './quota-client.ts';
import type { Audit } from '@vision/shared/audit/auditor';
import { noteDifferences } from '@vision/shared/audit/differences';
import type { Found } from '@vision/shared/audit/differences';

export interface ReservationAuditDeps {
  db: Knex;
  quota: Pick<QuotaClient, 'claimOpen' | 'findOpen'>;
  kind: QuotaKind;
  /** Which of these reservations something is still held for. */
  findHeld: (reservationIds: string[]) => Promise<string[]>;
}

const PAGE = 200;

/**
 * Open reservations against what they are held for; run by the service that reserves. Quota gives them a page at a
 * time, each seldom: after a minute, then after as long as it is old, an hour at most.
 */
export function auditReservations({ db, quota, kind, findHeld }: ReservationAuditDeps): Audit {
  const unheld = async (open: OpenReservation[]): Promise<Found[]> => {
    const held = new Set(await findHeld(open.map((one) => one.reservation_id)));
    return open.filter((one) => !held.has(one.reservation_id)).map(toFound);
  };
  return {
    kind: KIND,
    find: async () => {
      const open = await quota.claimOpen(kind, PAGE);
      await noteDifferences(db, KIND, await unheld(open));
      return open.length === PAGE;
    },
    // Open is asked before held: what is closed in between was held then.
    confirm: async (ids) => unheld(await quota.findOpen(ids)),
  };
}

const KIND = 'open_reservation';

const toFound = ({ reservation_id: id, subject, units }: OpenReservation): Found => ({
  id,
  details: { task_id: id.split('/')[0], subject, units },
});
