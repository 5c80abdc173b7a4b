import { listDifferencesRoute } from '@vision/shared/audit/list-differences';
import { taskHistoryRoute } from '@vision/shared/http/task-history';
import type { Route } from '@vision/shared/http/route';
import { decideBucketRoute } from '@vision/objects/http/decide-bucket';
import { runAuditsRoute } from '@vision/shared/audit/run-audits';
import { scanObjectsRoute } from '@vision/objects/http/scan-objects';
import { deadLetterRoutes } from '@vision/kafka/http/dead-letter-routes';
import { republishOutboxRoute } from '@vision/kafka/http/republish-route';
import { pingRoute, statusRoute } from '@vision/shared/status/routes';
import type { Deps } from '../use-cases/deps.ts';
import { scanVideos } from '../use-cases/operate/scan-videos.ts';
import { auditsOf } from '../use-cases/operate/audits.ts';
import { describeTask } from '../use-cases/follow/describe-task.ts';
import { listBackendDifferences } from '../use-cases/operate/list-backend-differences.ts';
import { createStreamTaskRoute } from './create-stream-task.ts';
import { createStreamProbeRoute } from './create-stream-probe.ts';
import { createUploadTaskRoute } from './create-upload-task.ts';
import { deleteTaskRoute } from './delete-task.ts';
import { findKnownTasksRoute } from './find-known-tasks.ts';
import { getLiveSnapshotRoute } from './get-live-snapshot.ts';
import { getTaskRoute } from './get-task.ts';
import { getTaskVideoRoute } from './get-task-video.ts';
import {
  getInternalTaskRoute,
  listInternalTasksRoute,
  stopInternalTaskRoute,
  verifyTaskRoute,
} from './internal-tasks.ts';
import { listBackendJobsRoute } from './list-backend-jobs.ts';
import { listBackendStatusRoute } from './list-backend-status.ts';
import { listJobsOfBackendRoute, stopJobOfBackendRoute } from './jobs-of-backend.ts';
import { listTasksRoute } from './list-tasks.ts';
import { runRetentionRoute } from './run-retention.ts';
import { stopTaskRoute } from './stop-task.ts';
import { decideAboutVideos } from '../use-cases/retain/sweep-videos.ts';

export const routes = (deps: Deps): Route[] => [
  createStreamTaskRoute(deps),
  createUploadTaskRoute(deps),
  createStreamProbeRoute(deps),
  listTasksRoute(deps),
  getTaskRoute(deps),
  getTaskVideoRoute(deps),
  getLiveSnapshotRoute(deps),
  stopTaskRoute(deps),
  deleteTaskRoute(deps),
  listInternalTasksRoute(deps),
  stopInternalTaskRoute(deps),
  listBackendJobsRoute(deps),
  listJobsOfBackendRoute(deps),
  stopJobOfBackendRoute(deps),
  runAuditsRoute('runTaskAudits', { db: deps.db, audits: auditsOf(deps) }),
  scanObjectsRoute('scanVideos', scanVideos(deps)),
  taskHistoryRoute('getTaskHistory', (taskId) => describeTask(deps, taskId)),
  getInternalTaskRoute(deps),
  verifyTaskRoute(deps),
  findKnownTasksRoute(deps),
  statusRoute('getTasksStatus', deps.status),
  pingRoute('pingTasks', 'tasks'),
  listBackendStatusRoute(deps),
  runRetentionRoute(deps),
  decideBucketRoute('decideTaskBucket', (decision) => decideAboutVideos(deps, decision)),
  republishOutboxRoute('republishTaskEvents', deps),
  ...deadLetterRoutes('tasks', 'Task', deps),
  listDifferencesRoute('listTaskDifferences', {
    db: deps.db,
    ageMs: deps.settings.auditAgeMs,
    elsewhere: () => listBackendDifferences(deps),
  }),
];
