import type { OpenReservation, QuotaKind } from '@vision/contracts/quota';
import { claimOpen, findOpen } from '../db/audit.ts';
import type { Deps } from './deps.ts';

/** A page of open reservations that are due for comparison with their tasks or image calls. */
export async function claimOpenReservations(
  { db }: Pick<Deps, 'db'>,
  { kind, limit }: { kind: QuotaKind; limit: number },
): Promise<OpenReservation[]> {
  return claimOpen(db, kind, limit);
}

/** Returns those of these reservations that are open. */
export async function findOpenReservations({ db }: Pick<Deps, 'db'>, ids: string[]): Promise<OpenReservation[]> {
  return findOpen(db, ids);
}
