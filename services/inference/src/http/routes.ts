import type { Route } from '@vision/shared/http/route';
import { detectImageRoute } from './detect-image.ts';
import type { DetectImageRouteDeps } from './detect-image.ts';
import { getHealthRoute } from './get-health.ts';

export const routes = (deps: DetectImageRouteDeps): Route[] => [getHealthRoute(deps), detectImageRoute(deps)];
