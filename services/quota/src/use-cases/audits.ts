import type { Audit } from '@vision/shared/audit/auditor';
import { hastenOpen } from '../db/reservations.ts';
import { auditCounters } from './audit-counters.ts';
import type { Deps } from './deps.ts';

export const auditsOf = (deps: Pick<Deps, 'db'>): Audit[] => [auditCounters(deps)];

/** Makes tasks and images check every open reservation now, regardless of the schedule. */
export const hastenAudits =
  ({ db }: Pick<Deps, 'db'>) =>
  (): Promise<void> =>
    hastenOpen(db);
