import { listDifferencesRoute } from '@vision/shared/http/list-differences';
import { taskHistoryRoute } from '@vision/shared/http/task-history';
import type { Route } from '@vision/shared/http/route';
import { deadLetterRoutes } from '@vision/shared/status/dead-letter-routes';
import { republishOutboxRoute } from '@vision/shared/status/republish-route';
import { pingRoute, statusRoute } from '@vision/shared/status/routes';
import type { Deps } from '../use-cases/deps.ts';
import { describeImageCall } from '../use-cases/describe-image-call.ts';
import { createImageDetectionRoute } from './create-image-detection.ts';
import { getImageCallRoute } from './get-image-call.ts';
import { runRetentionRoute } from './run-retention.ts';

export function routes(deps: Deps): Route[] {
  return [
    createImageDetectionRoute(deps),
    getImageCallRoute(deps),
    runRetentionRoute(deps),
    republishOutboxRoute('republishImageEvents', deps),
    ...deadLetterRoutes('images', 'Image', deps),
    statusRoute('getImagesStatus', deps.status),
    pingRoute('pingImages', 'images'),
    taskHistoryRoute('getImageCallHistory', (taskId) => describeImageCall(deps, taskId)),
    listDifferencesRoute('listImageDifferences', { db: deps.db, ageMs: deps.settings.auditAgeMs }),
  ];
}
