import type { Audit } from '@vision/shared/audit/auditor';
import { auditReservations } from '@vision/creation/audit-reservations';
import { findHeld } from '../../db/audit.ts';
import { auditMissingVideos, auditUnusedVideos } from './audit-videos.ts';
import type { Deps } from '../deps.ts';

/** The comparisons of this service: held units with its tasks, and its tasks with their videos. */
export function auditsOf(deps: Pick<Deps, 'db' | 'ownPrefix' | 'quota' | 'store' | 'settings'>): Audit[] {
  const { db, quota } = deps;
  return [
    auditReservations({ db, quota, kind: 'video', findHeld: (ids) => findHeld(db, ids) }),
    auditMissingVideos(deps),
    auditUnusedVideos(deps),
  ];
}
