import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { getSubjectUsageRoute, getUsageRoute } from './get-usage.ts';
import { refundRoute } from './refund.ts';
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
    getSubjectUsageRoute(deps),
    verifyRoute(deps),
    runRetentionRoute(deps),
  ];
}
