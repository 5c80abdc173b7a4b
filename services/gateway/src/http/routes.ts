import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { forwardedRoutes } from './forwarded-routes.ts';
import { adminRoutes } from './admin/routes.ts';
import { createLinkRoute } from './create-link.ts';
import { getKeyRoute } from './get-key.ts';
import { getLinkRoute } from './get-link.ts';
import { listScenesRoute } from './list-scenes.ts';
import { getSettingsRoute, putSettingsRoute } from './subject-settings.ts';
import { openapiDocumentRoute } from './openapi-document.ts';

/** Operations for callers, implemented here or forwarded. */
export function publicRoutes(deps: Deps): Route[] {
  return [...ownRoutes(deps), ...forwardedRoutes(deps)];
}

/** Public operations that the gateway implements itself. */
function ownRoutes(deps: Deps): Route[] {
  return [
    listScenesRoute(deps),
    getKeyRoute(),
    getSettingsRoute(deps),
    putSettingsRoute(deps),
    createLinkRoute(deps),
    getLinkRoute(deps),
    openapiDocumentRoute(deps.settings),
  ];
}

/** Everything that the gateway declares, on both listeners. */
export function routes(deps: Deps): Route[] {
  return [...ownRoutes(deps), ...adminRoutes(deps)];
}
