import { decideBucketRoute } from '@vision/objects/http/decide-bucket';
import { listDifferencesRoute } from '@vision/shared/audit/list-differences';
import { runAuditsRoute } from '@vision/shared/audit/run-audits';
import { scanObjectsRoute } from '@vision/objects/http/scan-objects';
import { taskHistoryRoute } from '@vision/shared/http/task-history';
import type { Route } from '@vision/shared/http/route';
import { deadLetterRoutes } from '@vision/kafka/http/dead-letter-routes';
import { republishOutboxRoute } from '@vision/kafka/http/republish-route';
import { pingRoute, statusRoute } from '@vision/shared/status/routes';
import type { Deps } from '../use-cases/deps.ts';
import { auditsOf, hastenAudits } from '../use-cases/operate/audits.ts';
import { scanSegments } from '../use-cases/operate/scan-segments.ts';
import { describeFrames } from '../use-cases/operate/describe-frames.ts';
import { decideAboutBucket } from '../use-cases/operate/decide-about-bucket.ts';
import { countFramesOfTasksRoute } from './count-frames-of-tasks.ts';
import { deleteTasksRoute } from './delete-tasks.ts';
import { getResultStreamRoute } from './get-result-stream.ts';
import { getResultsRoute } from './get-results.ts';
import { createAlarmBacktestRoute } from './create-alarm-backtest.ts';
import { getSourceRoute } from './get-source.ts';
import { getStoredFramesRoute } from './get-stored-frames.ts';
import { getTimelineRoute } from './get-timeline.ts';
import { getTrackRoute } from './get-track.ts';
import { getTrackSnapshotRoute } from './get-track-snapshot.ts';
import { listTracksRoute } from './list-tracks.ts';
import { runRetentionRoute } from './run-retention.ts';

export function routes(deps: Deps): Route[] {
  return [
    getResultsRoute(deps),
    listTracksRoute(deps),
    getTrackRoute(deps),
    getTrackSnapshotRoute(deps),
    getTimelineRoute(deps),
    getResultStreamRoute(deps),
    getSourceRoute(deps),
    createAlarmBacktestRoute(deps),
    getStoredFramesRoute(deps),
    countFramesOfTasksRoute(deps),
    deleteTasksRoute(deps),
    runRetentionRoute(deps),
    runAuditsRoute('runResultAudits', { db: deps.db, audits: auditsOf(deps), hasten: hastenAudits(deps) }),
    scanObjectsRoute('scanSegments', scanSegments(deps)),
    decideBucketRoute('decideResultBucket', (decision) => decideAboutBucket(deps, decision)),
    republishOutboxRoute('republishResultEvents', deps),
    ...deadLetterRoutes('results', 'Result', deps),
    statusRoute('getResultsStatus', deps.status),
    pingRoute('pingResults', 'results'),
    taskHistoryRoute('getFrameHistory', (taskId) => describeFrames(deps, taskId)),
    listDifferencesRoute('listResultDifferences', { db: deps.db, ageMs: deps.settings.auditAgeMs }),
  ];
}
