import { z } from 'zod';
import { defineQuestion } from './question.ts';

/** Remove now what is over its time. Every service that keeps something for a time answers what it removed, by name. */
export const runRetention = defineQuestion({
  method: 'post',
  path: '/internal/v1/retention/run',
  reply: z.record(z.string(), z.int().min(0)).meta({ id: 'RemovedCounts' }),
});

/** What an operator decides about the database of a service and the bucket; the next sweep applies it. */
export const bucketDecision = z.enum(['resume', 'adopt']);
export const decideBucket = defineQuestion({
  method: 'post',
  path: '/internal/v1/bucket/decisions',
  body: z.object({ decision: bucketDecision }),
  reply: z.object({ decision: bucketDecision }).meta({ id: 'BucketDecided' }),
});
