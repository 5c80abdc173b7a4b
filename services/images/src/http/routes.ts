import type { Route } from '@vision/shared/http/route';
import type { CreateRouteDeps } from './create-image-detection.ts';
import { createImageDetectionRoute } from './create-image-detection.ts';
import { getImageCallRoute } from './get-image-call.ts';
import { runRetentionRoute } from './run-retention.ts';
import type { RetentionDeps } from '../use-cases/run-retention.ts';

export function routes(deps: CreateRouteDeps & RetentionDeps): Route[] {
  return [createImageDetectionRoute(deps), getImageCallRoute(deps), runRetentionRoute(deps)];
}
