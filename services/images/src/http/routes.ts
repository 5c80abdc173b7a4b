import { listDifferencesRoute } from '@vision/shared/audit/list-differences';
import { runAuditsRoute } from '@vision/shared/audit/run-audits';
import { scanObjectsRoute } from '@vision/objects/http/scan-objects';
import { taskHistoryRoute } from '@vision/shared/http/task-history';
import type { Route } from '@vision/shared/http/route';
import { decideBucketRoute } from '@vision/objects/http/decide-bucket';
import { deadLetterRoutes } from '@vision/kafka/http/dead-letter-routes';
import { republishOutboxRoute } from '@vision/kafka/http/republish-route';
import { pingRoute, statusRoute } from '@vision/shared/status/routes';
import type { Deps } from '../use-cases/deps.ts';
import { auditsOf } from '../use-cases/audits.ts';
import { scanPictures } from '../use-cases/scan-pictures.ts';
import { describeImageCall } from '../use-cases/describe-image-call.ts';
import { createImageDetectionRoute } from './create-image-detection.ts';
import { deleteImageCallsRoute } from './delete-image-calls.ts';
import { getImageCallRoute } from './get-image-call.ts';
import { getImageDetectionRoute } from './get-image-detection.ts';
import { runRetentionRoute } from './run-retention.ts';
import { decideAboutPictures } from '../use-cases/sweep-orphan-pictures.ts';

export function routes(deps: Deps): Route[] {
  return [
    createImageDetectionRoute(deps),
    getImageDetectionRoute(deps),
    getImageCallRoute(deps),
    deleteImageCallsRoute(deps),
    runRetentionRoute(deps),
    runAuditsRoute('runImageAudits', { db: deps.db, audits: auditsOf(deps) }),
    scanObjectsRoute('scanPictures', scanPictures(deps)),
    decideBucketRoute('decideImageBucket', (decision) => decideAboutPictures(deps, decision)),
    republishOutboxRoute('republishImageEvents', deps),
    ...deadLetterRoutes('images', 'Image', deps),
    statusRoute('getImagesStatus', deps.status),
    pingRoute('pingImages', 'images'),
    taskHistoryRoute('getImageCallHistory', (taskId) => describeImageCall(deps, taskId)),
    listDifferencesRoute('listImageDifferences', { db: deps.db, ageMs: deps.settings.auditAgeMs }),
  ];
}
