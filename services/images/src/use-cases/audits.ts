import { auditReservations } from '@vision/creation/audit-reservations';
import type { Audit } from '@vision/shared/audit/auditor';
import { findHeld } from '../db/idempotency-keys.ts';
import type { Deps } from './deps.ts';

export const auditsOf = (deps: Pick<Deps, 'db' | 'quota'>): Audit[] => [
  auditReservations({ ...deps, kind: 'image', findHeld: (ids) => findHeld(deps.db, ids) }),
];
