import { z } from 'zod';
import { scanCursors, scanObjects } from '@vision/contracts/objects';
import { bucketDecision } from '@vision/contracts/retention';
import { exampleTaskRecord } from '@vision/contracts/tasks';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import { decideBucket } from '../../use-cases/decide-bucket.ts';
import { scanBucket } from '../../use-cases/scan-bucket.ts';
import type { Deps } from '../../use-cases/deps.ts';
import { actorOf, operatorHeaders, operatorInvalid, words } from './schemas.ts';

const service = z.enum(['tasks', 'images', 'results']).describe('The service whose database is meant');
const decision = bucketDecision.describe(
  '`resume`: a restored database is the newest from now on. `adopt`: the database owns its objects in the bucket alone',
);
const request = z
  .strictObject({ service, decision, reason: words(500).min(1) })
  .meta({ id: 'BucketDecision', description: 'Decision of an operator about a database and the bucket' });
const decided = z.object({ service, decision }).meta({ id: 'BucketDecisionNoted' });
const example: z.infer<typeof decided> = { service: 'tasks', decision: 'resume' };

const scan = z
  .strictObject({
    service: z.enum(['tasks', 'images', 'results']).describe('The service whose rows are compared'),
    after: z.string().max(500).default('').describe('next_cursor of the page before'),
    limit: z.int().min(1).max(1000).default(1000),
  })
  .refine(({ service, after }) => after === '' || scanCursors[service].test(after), {
    path: ['after'],
    error: 'is not the next_cursor of a page of this service',
  })
  .meta({ id: 'BucketScan' });
const missing = { task_id: exampleTaskRecord.task_id, object_key: `videos/${exampleTaskRecord.task_id}` };

export const scanBucketRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'scanBucket',
      method: 'post',
      path: '/admin/v1/bucket/scan',
      summary: 'Finds rows whose object is not in the bucket',
      description: 'One page of rows; nothing is changed. Continue with `next_cursor` until it is empty.',
      tag: 'Upkeep',
      audience: 'admin',
      body: scan,
      bodyExample: { service: 'tasks', after: '', limit: 1000 },
      responses: {
        200: {
          description: 'Missing objects of this page',
          schema: scanObjects.reply,
          example: { checked: 812, missing: [missing], next_cursor: '' },
        },
      },
      refusalExamples: () => [
        fail.sysUnavailable('object_store_unavailable'),
        fail.sysUnavailable('tasks_unavailable'),
      ],
    },
    async ({ body, signal }) => ({ status: 200, body: await scanBucket(deps, body, signal) }),
  );

export const decideBucketRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'decideBucket',
      method: 'post',
      path: '/admin/v1/bucket/decisions',
      summary: 'Resumes sweeps and retention after a restore, or makes a database the owner of the bucket',
      description: 'The next sweep of the service applies it, within the hour.',
      tag: 'Upkeep',
      audience: 'admin',
      headers: operatorHeaders,
      body: request,
      bodyExample: { ...example, reason: 'restored to 08:00, nothing newer exists' },
      responses: { 200: { description: 'The decision was noted', schema: decided, example } },
      refusalExamples: () => [operatorInvalid(), fail.sysUnavailable('tasks_unavailable')],
    },
    async ({ body, req }) => ({ status: 200, body: await decideBucket(deps, body, actorOf(req)) }),
  );
