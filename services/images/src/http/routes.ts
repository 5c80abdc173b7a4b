import { listDifferencesRoute } from '@vision/shared/http/list-differences';
import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { createImageDetectionRoute } from './create-image-detection.ts';
import { getImageCallRoute } from './get-image-call.ts';
import { runRetentionRoute } from './run-retention.ts';

export function routes(deps: Deps): Route[] {
  return [
    createImageDetectionRoute(deps),
    getImageCallRoute(deps),
    runRetentionRoute(deps),
    listDifferencesRoute('listImageDifferences', { db: deps.db, ageMs: deps.settings.auditAgeMs }),
  ];
}
