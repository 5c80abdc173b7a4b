import type { OpenReservation, QuotaKind } from '@vision/contracts/quota';
import { claimOpen, findOpen } from '../db/audit.ts';
import type { Deps } from './deps.ts';

/** A page of open reservations whose turn it is to be compared with what they are held for. */
export async function claimOpenReservations(
  { db }: Pick<Deps, 'db'>,
  { kind, limit }: { kind: QuotaKind; limit: number },
): Promise<OpenReservation[]> {
  return claimOpen(db, kind, limit);
}

/** Which of these reservations are open. */
export async function findOpenReservations({ db }: Pick<Deps, 'db'>, ids: string[]): Promise<OpenReservation[]> {
  return findOpen(db, ids);
}
