import { defaultLimits } from '@vision/contracts/limits';
import { exampleUsage, getSubjectUsage, usageReply } from '@vision/contracts/quota';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { getUsage } from '../use-cases/get-usage.ts';

export const getUsageRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      operation: 'getUsage',
      method: 'get',
      path: '/v1/vision/usage',
      summary: "Returns today's quota usage",
      description: 'A quota day begins at 00:00 UTC+8.',
      tag: 'Account',
      audience: 'public',
      responses: { 200: { description: "Today's usage", schema: usageReply, example: exampleUsage } },
    },
    async ({ caller }) => {
      const limits = caller.limits ?? defaultLimits;
      const body = await getUsage(deps, caller.subject, {
        video: limits.video_tasks_per_day,
        image: limits.images_per_day,
      });
      return { status: 200, body };
    },
  );

export const getSubjectUsageRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      ...getSubjectUsage,
      operation: 'getSubjectUsage',
      summary: "Returns today's usage of a subject, with the given limits",
      audience: 'internal',
      responses: { 200: { description: "Today's usage", schema: getSubjectUsage.reply } },
    },
    async ({ caller, query }) => ({
      status: 200,
      body: await getUsage(deps, caller.subject, { video: query.video_limit, image: query.image_limit }),
    }),
  );
