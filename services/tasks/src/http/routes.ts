import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { createStreamTaskRoute } from './create-stream-task.ts';
import { getTaskRoute } from './get-task.ts';
import { stopTaskRoute } from './stop-task.ts';

export function routes(deps: Deps): Route[] {
  return [createStreamTaskRoute(deps), getTaskRoute(deps), stopTaskRoute(deps)];
}
