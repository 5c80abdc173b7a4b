import type { Knex } from 'knex';
import { z } from 'zod';
import { defaultLimits } from '@vision/shared/contracts/limits';
import { usageReply } from '@vision/shared/contracts/quota';
import { route } from '@vision/shared/http/route';
import { usage } from '../use-cases/usage.ts';

export const getUsageRoute = (deps: { db: Knex }) =>
  route(
    {
      operation: 'getUsage',
      method: 'get',
      path: '/v1/vision/usage',
      summary: "What is used and left of today's quota",
      description: 'Days begin at 00:00 UTC+8.',
      audience: 'public',
      responses: { 200: { description: "Today's usage", schema: usageReply } },
      errors: ['OP-AUTH-REQUIRED', 'OP-QUOTA-RATE-LIMITED', 'OP-SYS-UNAVAILABLE'],
    },
    async ({ caller }) => {
      const limits = caller.limits ?? defaultLimits;
      const body = await usage(deps, caller.subject, {
        video: limits.video_tasks_per_day,
        image: limits.images_per_day,
      });
      return { status: 200, body };
    },
  );

const limit = z.coerce.number().int().min(0);

export const getSubjectUsageRoute = (deps: { db: Knex }) =>
  route(
    {
      operation: 'getSubjectUsage',
      method: 'get',
      path: '/internal/v1/usage',
      summary: "Today's usage of a subject against the given limits",
      audience: 'internal',
      query: z.object({ video_limit: limit, image_limit: limit }),
      responses: { 200: { description: "Today's usage", schema: usageReply } },
    },
    async ({ caller, query }) => ({
      status: 200,
      body: await usage(deps, caller.subject, { video: query.video_limit, image: query.image_limit }),
    }),
  );
