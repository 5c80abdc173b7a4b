import { z } from 'zod';
import { defaultLimits, subjectLimits } from '@vision/contracts/limits';
import { exampleUsage, usageReply } from '@vision/contracts/quota';
import { fail } from '@vision/contracts/errors';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';
import { limitsChange } from '../../domain/limits.ts';
import type { Deps } from '../../use-cases/deps.ts';
import { getLimits } from '../../use-cases/get-limits.ts';
import { getSubjectUsage } from '../../use-cases/get-subject-usage.ts';
import { setLimits } from '../../use-cases/set-limits.ts';
import { actorOf, operatorHeaders, operatorInvalid, subjectPath } from './schemas.ts';

/** Every limit with its number; the defaults belong to the change, not to the answer. */
const limitsView = z
  .object(Object.fromEntries(Object.keys(subjectLimits.shape).map((name) => [name, z.number()])))
  .meta({ id: 'Limits' });

export const getLimitsRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'getLimits',
      method: 'get',
      path: '/admin/v1/subjects/{subject}/limits',
      summary: 'Returns the limits in force for a subject',
      tag: 'Subjects',
      audience: 'admin',
      params: subjectPath,
      responses: { 200: { description: 'All limits', schema: limitsView, example: defaultLimits } },
    },
    async ({ params }) => ({ status: 200, body: await getLimits(deps, params.subject) }),
  );

export const setLimitsRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'setLimits',
      method: 'put',
      path: '/admin/v1/subjects/{subject}/limits',
      summary: 'Changes limits of a subject',
      description: 'A number sets a limit, null returns it to the default, an absent one stays as it is.',
      tag: 'Subjects',
      audience: 'admin',
      headers: operatorHeaders,
      params: subjectPath,
      body: limitsChange,
      bodyExample: { video_tasks_per_day: 20, burst: null },
      responses: {
        200: {
          description: 'All limits after the change',
          schema: limitsView,
          example: { ...defaultLimits, video_tasks_per_day: 20 },
        },
      },
      refusalExamples: () => [operatorInvalid()],
    },
    async ({ params, body, req }) => ({
      status: 200,
      body: await setLimits(deps, { subject: params.subject, change: body, actor: actorOf(req) }),
    }),
  );

export const getSubjectUsageRoute = (deps: Deps): Route =>
  route(
    {
      operation: 'getUsageOfSubject',
      method: 'get',
      path: '/admin/v1/subjects/{subject}/usage',
      summary: "Returns the units of today's quota that a subject used",
      tag: 'Subjects',
      audience: 'admin',
      params: subjectPath,
      responses: { 200: { description: 'As /v1/vision/usage', schema: usageReply, example: exampleUsage } },
      refusalExamples: () => [fail.sysUnavailable('quota_unavailable')],
    },
    async ({ params, signal }) => ({ status: 200, body: await getSubjectUsage(deps, params.subject, signal) }),
  );
