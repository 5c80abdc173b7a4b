import type { Route } from '@vision/shared/http/route';
import { detectImageRoute } from './detect-image.ts';
import type { DetectImageRouteDeps } from './detect-image.ts';
import { getHealthRoute } from './get-health.ts';
import { jobRoutes } from './jobs.ts';
import type { JobsRouteDeps } from './jobs.ts';

/** Without a database there are no video jobs. */
export const routes = (deps: DetectImageRouteDeps, jobs: JobsRouteDeps | undefined): Route[] => [
  getHealthRoute(deps),
  detectImageRoute(deps),
  ...(jobs ? jobRoutes(jobs) : []),
];
