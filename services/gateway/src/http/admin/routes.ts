import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../../use-cases/deps.ts';
import { listAuditRoute } from './audit.ts';
import { listDeadLettersRoute, replayDeadLettersRoute, showDeadLetterRoute } from './dead-letters.ts';
import { listDifferencesRoute, repairCounterRoute } from './differences.ts';
import { createKeyRoute, listKeysRoute, revokeKeyRoute, rotateKeyRoute } from './keys.ts';
import { republishOutboxRoute } from './outbox.ts';
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
    getLimitsRoute,
    setLimitsRoute,
    getSubjectUsageRoute,
    listTasksOfAllRoute,
    showTaskRoute,
    stopTaskRoute,
    listBackendJobsRoute,
    verifyTaskRoute,
    getMaintenanceRoute,
    setMaintenanceRoute,
    runRetentionRoute,
    verifyQuotaRoute,
    repairCounterRoute,
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
