import type { Audit } from '@vision/shared/audit/auditor';
import { hastenUnended } from '../../db/audit.ts';
import { auditFrames } from './audit-frames.ts';
import { auditSegments } from './audit-segments.ts';
import { auditUnknownTasks } from './audit-unknown-tasks.ts';
import type { Deps } from '../deps.ts';

export const auditsOf = (deps: Deps): Audit[] => [auditFrames(deps), auditUnknownTasks(deps), auditSegments(deps)];

/** Queries tasks now about every job whose frames arrive, regardless of the schedule. */
export const hastenAudits =
  ({ db }: Pick<Deps, 'db'>) =>
  (): Promise<void> =>
    hastenUnended(db);
