import type { Route } from '@vision/shared/http/route';
import type { Scenes } from '@vision/shared/scenes';
import type { OperatorDeps } from '../use-cases/operator-deps.ts';
import { adminRoutes } from './admin/routes.ts';
import { listScenesRoute } from './list-scenes.ts';
import { openapiDocumentRoute } from './openapi-document.ts';

export interface OwnDeps {
  scenes: Scenes;
  openapiFile: string;
}

/** Public operations that the gateway answers itself. */
export function ownRoutes(deps: OwnDeps): Route[] {
  return [listScenesRoute(deps), openapiDocumentRoute(deps)];
}

/** Everything that the gateway declares, on both listeners. */
export function routes(deps: OwnDeps & OperatorDeps): Route[] {
  return [...ownRoutes(deps), ...adminRoutes(deps)];
}
