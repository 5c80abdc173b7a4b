import type { Route } from '@vision/shared/http/route';
import type { GetResultsDeps } from '../use-cases/get-results.ts';
import type { RetentionDeps } from '../use-cases/run-retention.ts';
import { getResultsRoute } from './get-results.ts';
import { getStoredFramesRoute } from './get-stored-frames.ts';
import { runRetentionRoute } from './run-retention.ts';

export function routes(deps: GetResultsDeps & RetentionDeps): Route[] {
  return [getResultsRoute(deps), getStoredFramesRoute(deps), runRetentionRoute(deps)];
}
