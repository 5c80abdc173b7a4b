import type { z } from 'zod';
import { decideBucket as question } from '@vision/contracts/retention';
import type { bucketDecision } from '@vision/contracts/retention';
import { route } from '@vision/shared/http/route';
import type { Route } from '@vision/shared/http/route';

/** Takes down what an operator decides about the bucket; the next sweep applies it. */
export const decideBucketRoute = (
  operation: string,
  decide: (decision: z.infer<typeof bucketDecision>) => Promise<void>,
): Route =>
  route(
    {
      ...question,
      operation,
      summary: 'Resumes sweeps and retention after a restore, or makes a database the owner of the bucket',
      audience: 'internal',
      responses: { 200: { description: 'The decision, which the next sweep applies', schema: question.reply } },
    },
    async ({ body }) => {
      await decide(body.decision);
      return { status: 200, body };
    },
  );
