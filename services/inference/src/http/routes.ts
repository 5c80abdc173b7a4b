import { listDifferencesRoute } from '@vision/shared/audit/list-differences';
import type { Route } from '@vision/shared/http/route';
import type { Deps, ImageDeps } from '../use-cases/deps.ts';
import { detectImageRoute } from './detect-image.ts';
import { getCapacityRoute } from './get-capacity.ts';
import { getHealthRoute } from './get-health.ts';
import { getJobRoute } from './get-job.ts';
import { getJobSnapshotRoute } from './get-job-snapshot.ts';
import { getStatusRoute } from './get-status.ts';
import { listActiveJobsRoute } from './list-active-jobs.ts';
import { listJobsRoute } from './list-jobs.ts';
import { probeStreamRoute } from './probe-stream.ts';
import { stopJobRoute } from './stop-job.ts';
import { submitJobRoute } from './submit-job.ts';

/** Without a database there are no video jobs. */
export const routes = (images: ImageDeps, jobs: Deps | undefined): Route[] => [
  getHealthRoute(images),
  detectImageRoute(images),
  ...(jobs
    ? [
        submitJobRoute(jobs),
        listJobsRoute(jobs),
        listActiveJobsRoute(jobs),
        getJobRoute(jobs),
        getJobSnapshotRoute(jobs),
        stopJobRoute(jobs),
        getCapacityRoute(jobs),
        probeStreamRoute(jobs),
        getStatusRoute(jobs),
        listDifferencesRoute('listJobDifferences', {
          db: jobs.db,
          ageMs: jobs.settings.auditAgeMs,
          audience: 'backend',
        }),
      ]
    : []),
];
