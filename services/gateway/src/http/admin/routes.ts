import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../../use-cases/deps.ts';
import { listAuditRoute } from './audit.ts';
import { createConsoleCodeRoute } from './console-codes.ts';
import { decideBucketRoute, scanBucketRoute } from './bucket.ts';
import { listDeadLettersRoute, replayDeadLettersRoute, showDeadLetterRoute } from './dead-letters.ts';
import { listDifferencesRoute, repairCounterRoute, runAuditsRoute } from './differences.ts';
import { listJobsOfBackendRoute, stopJobOfBackendRoute } from './jobs-of-backend.ts';
import { createKeyRoute, listKeysRoute, revokeKeyRoute, rotateKeyRoute } from './keys.ts';
import { republishOutboxRoute } from './outbox.ts';
import { endReservationRoute } from './reservations.ts';
import { readStatusRoute } from './status.ts';
import { getLimitsRoute, getSubjectUsageRoute, setLimitsRoute } from './subjects.ts';
import { listBackendJobsRoute, listTasksOfAllRoute, showTaskRoute, stopTaskRoute, verifyTaskRoute } from './tasks.ts';
import { getMaintenanceRoute, runRetentionRoute, setMaintenanceRoute, verifyQuotaRoute } from './upkeep.ts';

export function adminRoutes(deps: Deps): Route[] {
  const all = [
    createKeyRoute,
    listKeysRoute,
    revokeKeyRoute,
    rotateKeyRoute,
    createConsoleCodeRoute,
    getLimitsRoute,
    setLimitsRoute,
    getSubjectUsageRoute,
    listTasksOfAllRoute,
    showTaskRoute,
    stopTaskRoute,
    listBackendJobsRoute,
    listJobsOfBackendRoute,
    stopJobOfBackendRoute,
    verifyTaskRoute,
    getMaintenanceRoute,
    setMaintenanceRoute,
    runRetentionRoute,
    decideBucketRoute,
    scanBucketRoute,
    verifyQuotaRoute,
    repairCounterRoute,
    endReservationRoute,
    runAuditsRoute,
    listDifferencesRoute,
    listAuditRoute,
    readStatusRoute,
    republishOutboxRoute,
    listDeadLettersRoute,
    showDeadLetterRoute,
    replayDeadLettersRoute,
  ];
  return all.map((make) => make(deps));
}
