import { listDifferencesRoute } from '@vision/shared/http/list-differences';
import { taskHistoryRoute } from '@vision/shared/http/task-history';
import type { Route } from '@vision/shared/http/route';
import { deadLetterRoutes } from '@vision/shared/status/dead-letter-routes';
import { republishOutboxRoute } from '@vision/shared/status/republish-route';
import { pingRoute, statusRoute } from '@vision/shared/status/routes';
import type { Deps } from '../use-cases/deps.ts';
import { describeFrames } from '../use-cases/describe-frames.ts';
import { countFramesOfTasksRoute } from './count-frames-of-tasks.ts';
import { getResultsRoute } from './get-results.ts';
import { getStoredFramesRoute } from './get-stored-frames.ts';
import { runRetentionRoute } from './run-retention.ts';

export function routes(deps: Deps): Route[] {
  return [
    getResultsRoute(deps),
    getStoredFramesRoute(deps),
    countFramesOfTasksRoute(deps),
    runRetentionRoute(deps),
    republishOutboxRoute('republishResultEvents', deps),
    ...deadLetterRoutes('results', 'Result', deps),
    statusRoute('getResultsStatus', deps.status),
    pingRoute('pingResults', 'results'),
    taskHistoryRoute('getFrameHistory', (taskId) => describeFrames(deps, taskId)),
    listDifferencesRoute('listResultDifferences', { db: deps.db, ageMs: deps.settings.auditAgeMs }),
  ];
}
