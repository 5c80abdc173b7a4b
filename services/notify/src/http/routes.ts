import type { Route } from '@vision/shared/http/route';
import { statusRoute } from '@vision/shared/status/routes';
import type { Deps } from '../use-cases/deps.ts';
import { getEventStreamRoute } from './get-event-stream.ts';
import { listEventsRoute } from './list-events.ts';
import { runRetentionRoute } from './run-retention.ts';

export function routes(deps: Deps): Route[] {
  return [
    listEventsRoute(deps),
    getEventStreamRoute(deps),
    runRetentionRoute(deps),
    statusRoute('getNotifyStatus', deps.status),
  ];
}
