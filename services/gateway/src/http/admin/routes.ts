import type { Route } from '@vision/shared/http/route';
import type { OperatorDeps } from '../../use-cases/operator-deps.ts';
import { listAuditRoute } from './audit.ts';
import { createKeyRoute, listKeysRoute, revokeKeyRoute, rotateKeyRoute } from './keys.ts';
import { getLimitsRoute, getSubjectUsageRoute, setLimitsRoute } from './subjects.ts';
import { listResolvingTasksRoute, verifyTaskRoute } from './tasks.ts';
import { getMaintenanceRoute, runRetentionRoute, setMaintenanceRoute, verifyQuotaRoute } from './upkeep.ts';

export function adminRoutes(deps: OperatorDeps): Route[] {
  const all = [
    createKeyRoute,
    listKeysRoute,
    revokeKeyRoute,
    rotateKeyRoute,
    getLimitsRoute,
    setLimitsRoute,
    getSubjectUsageRoute,
    listResolvingTasksRoute,
    verifyTaskRoute,
    getMaintenanceRoute,
    setMaintenanceRoute,
    runRetentionRoute,
    verifyQuotaRoute,
    listAuditRoute,
  ];
  return all.map((make) => make(deps));
}
