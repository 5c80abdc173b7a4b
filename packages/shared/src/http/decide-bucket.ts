import type { z } from 'zod';
import { decideBucket as question } from '../contracts/retention.ts';
import type { bucketDecision } from '../contracts/retention.ts';
import { route } from './route.ts';
import type { Route } from './route.ts';

/** Takes down what an operator decides about the bucket; the next sweep applies it. */
export const decideBucketRoute = (
  operation: string,
  decide: (decision: z.infer<typeof bucketDecision>) => Promise<void>,
): Route =>
  route(
    {
      ...question,
      operation,
      summary: 'Go on with a restored database, or make it the owner of the bucket',
      audience: 'internal',
      responses: { 200: { description: 'The decision, which the next sweep applies', schema: question.reply } },
    },
    async ({ body }) => {
      await decide(body.decision);
      return { status: 200, body };
    },
  );
