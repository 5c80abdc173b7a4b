import { z } from 'zod';
import { defineQuestion } from './question.ts';

export const difference = z
  .object({
    kind: z.string().describe('The two compared facts'),
    id: z.string(),
    since: z.iso.datetime().describe('When it was first seen'),
    details: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Difference', description: 'Two things that must agree and do not' });

/** Differences that a service's audits found and that are old enough to count, oldest first. */
export const listDifferences = defineQuestion({
  method: 'get',
  path: '/internal/v1/differences',
  reply: z.object({ items: z.array(difference).describe('At most 1000') }).meta({ id: 'DifferenceList' }),
});

/** Audits everything at once, also what is not due yet; differences that may vanish in a minute are included. */
export const runAudits = defineQuestion({
  method: 'post',
  path: '/internal/v1/audits/run',
  reply: listDifferences.reply,
});

/** The same of the inference backend, which has its own way in; another backend need not have it. */
export const listBackendDifferences = defineQuestion({ ...listDifferences, path: '/v1/differences' });

export type Difference = z.infer<typeof difference>;
