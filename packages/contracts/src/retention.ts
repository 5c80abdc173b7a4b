import { z } from 'zod';
import { defineQuestion } from './question.ts';

/** Removes expired data now. Every service with a retention time answers with counts of removed items, by name. */
export const runRetention = defineQuestion({
  method: 'post',
  path: '/internal/v1/retention/run',
  reply: z.record(z.string(), z.int().min(0)).meta({ id: 'RemovedCounts' }),
});

/** An operator's decision about the database of a service and the bucket; the next sweep applies it. */
export const bucketDecision = z.enum(['resume', 'adopt']);
export const decideBucket = defineQuestion({
  method: 'post',
  path: '/internal/v1/bucket/decisions',
  body: z.object({ decision: bucketDecision }),
  reply: z.object({ decision: bucketDecision }).meta({ id: 'BucketDecided' }),
});
