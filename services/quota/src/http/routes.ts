import { listDifferencesRoute } from '@vision/shared/audit/list-differences';
import { runAuditsRoute } from '@vision/shared/audit/run-audits';
import { taskHistoryRoute } from '@vision/shared/http/task-history';
import type { Route } from '@vision/shared/http/route';
import { pingRoute, statusRoute } from '@vision/shared/status/routes';
import type { Deps } from '../use-cases/deps.ts';
import { auditsOf, hastenAudits } from '../use-cases/audits.ts';
import { describeReservations } from '../use-cases/describe-reservations.ts';
import { endReservationRoute } from './end-reservation.ts';
import { getSubjectUsageRoute, getUsageRoute } from './get-usage.ts';
import { getUsageDaysRoute } from './get-usage-days.ts';
import { claimOpenReservationsRoute, findOpenReservationsRoute } from './open-reservations.ts';
import { refundRoute } from './refund.ts';
import { repairCounterRoute } from './repair-counter.ts';
import { reserveRoute } from './reserve.ts';
import { runRetentionRoute } from './run-retention.ts';
import { settleRoute } from './settle.ts';
import { verifyRoute } from './verify.ts';

export function routes(deps: Deps): Route[] {
  return [
    reserveRoute(deps),
    settleRoute(deps),
    refundRoute(deps),
    getUsageRoute(deps),
    getUsageDaysRoute(deps),
    getSubjectUsageRoute(deps),
    verifyRoute(deps),
    repairCounterRoute(deps),
    endReservationRoute(deps),
    runAuditsRoute('runQuotaAudits', { db: deps.db, audits: auditsOf(deps), hasten: hastenAudits(deps) }),
    claimOpenReservationsRoute(deps),
    findOpenReservationsRoute(deps),
    listDifferencesRoute('listQuotaDifferences', { db: deps.db, ageMs: deps.settings.auditAgeMs }),
    taskHistoryRoute('getReservationHistory', (taskId) => describeReservations(deps, taskId)),
    runRetentionRoute(deps),
    statusRoute('getQuotaStatus', deps.status),
    pingRoute('pingQuota', 'quota'),
  ];
}
