import { z } from 'zod';

/** Every code that a caller may see. A code never changes its meaning. */
export const errorCodes = [
  'OP-AUTH-REQUIRED',
  'OP-TASK-REQUEST-INVALID',
  'OP-TASK-SCENE-UNAVAILABLE',
  'OP-TASK-NOT-STOPPABLE',
  'OP-TASK-UPSTREAM-DOWN',
  'OP-TASK-BREAKER-OPEN',
  'OP-QUOTA-DAILY-EXHAUSTED',
  'OP-QUOTA-RATE-LIMITED',
  'OP-SYS-UNAVAILABLE',
] as const;

const errorCode = z.enum(errorCodes).meta({ id: 'ErrorCode', description: 'Machine-readable error code' });

/**
 * Body of every error answer: RFC 9457 with this service's extensions. Read like this, codes and details may be new.
 */
export const problem = z.object({
  type: z.string().describe('Problem type: `urn:vision:problem:<details.reason>`'),
  title: z.string().describe('Short summary; the same for all problems of one code or status'),
  status: z.int().describe('HTTP status code'),
  detail: z.string().describe('Explanation for people, with what to do; the wording may change'),
  instance: z.string().describe('Identifier of the request: `urn:request:<X-Request-Id>`'),
  code: z.string().optional(),
  details: z.record(z.string(), z.unknown()),
  trace_id: z.string().describe('Identifier of the trace, as in the header X-Trace-Id; include it in support requests'),
  retryable: z.boolean().describe('True if the unchanged request may succeed later'),
});

const problemDetails = z
  .object({
    reason: z
      .string()
      .describe('Machine-readable reason, snake_case. Reasons keep their meaning; new ones may be added.'),
    field: z.string().optional().describe('Header, parameter or field that caused the error'),
    scope: z.string().optional().describe('`scope_missing`: scope that the operation requires'),
    scene_code: z.string().optional().describe('OP-TASK-SCENE-UNAVAILABLE: requested scene'),
    status: z.string().optional().describe('Status of the task that prevents the request'),
    limit: z
      .union([z.string(), z.number()])
      .optional()
      .describe('OP-QUOTA-DAILY-EXHAUSTED: units per day. OP-QUOTA-RATE-LIMITED: name or value of the limit.'),
    allowed: z.number().optional().describe('OP-QUOTA-RATE-LIMITED: maximum number at once'),
    active: z.number().optional().describe('OP-QUOTA-RATE-LIMITED: number of active tasks'),
    used: z.number().optional().describe('OP-QUOTA-DAILY-EXHAUSTED: units used today'),
    requested: z.number().optional().describe('OP-QUOTA-DAILY-EXHAUSTED: units required by this request'),
    resets_at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('OP-QUOTA-DAILY-EXHAUSTED: start of the next quota day'),
    evidence: z
      .object({
        job_status: z.string().nullable().describe('Status of the job; null if the backend does not have it'),
        frames_published: z.number(),
        seen_before: z.boolean().describe('True if the backend reported the job earlier'),
      })
      .optional()
      .describe('`verification_disproved`: what the backend reports about the job'),
    bytes: z.int().optional().describe('416: size of the content'),
    allow: z.array(z.string()).optional().describe('405: methods that the path supports'),
  })
  .meta({ id: 'ProblemDetails' });

/** The same as callers see it in the documents, with every code and every detail there is. */
export const documentedProblem = problem
  .extend({
    code: errorCode.optional(),
    details: problemDetails,
  })
  .meta({
    id: 'Problem',
    description:
      'Error response (RFC 9457). `code` is absent on 403, 404, 405, 416, 500 and conflicts of the admin API.',
  });

export type Problem = z.infer<typeof problem>;
