import { listDifferencesRoute } from '@vision/shared/http/list-differences';
import type { Route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { listBackendDifferences } from '../use-cases/list-backend-differences.ts';
import { createStreamTaskRoute } from './create-stream-task.ts';
import { createUploadTaskRoute } from './create-upload-task.ts';
import { findKnownTasksRoute } from './find-known-tasks.ts';
import { getTaskRoute } from './get-task.ts';
import { getInternalTaskRoute, listResolvingTasksRoute, verifyTaskRoute } from './internal-tasks.ts';
import { listTasksRoute } from './list-tasks.ts';
import { runRetentionRoute } from './run-retention.ts';
import { stopTaskRoute } from './stop-task.ts';

export const routes = (deps: Deps): Route[] => [
  createStreamTaskRoute(deps),
  createUploadTaskRoute(deps),
  listTasksRoute(deps),
  getTaskRoute(deps),
  stopTaskRoute(deps),
  listResolvingTasksRoute(deps),
  getInternalTaskRoute(deps),
  verifyTaskRoute(deps),
  findKnownTasksRoute(deps),
  runRetentionRoute(deps),
  listDifferencesRoute('listTaskDifferences', {
    db: deps.db,
    ageMs: deps.settings.auditAgeMs,
    elsewhere: () => listBackendDifferences(deps),
  }),
];
