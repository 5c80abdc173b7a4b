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

const errorCode = z.enum(errorCodes).meta({ id: 'ErrorCode', description: 'What programs decide by' });

/**
 * Body of every error answer: RFC 9457 with this service's extensions. Read like this, codes and details may be new.
 */
export const problem = z.object({
  type: z.string().describe('URN of the kind of problem: `urn:vision:problem:<details.reason>`'),
  title: z.string().describe('The kind of problem in words; the same for all answers of one status'),
  status: z.int().describe('The HTTP status'),
  detail: z.string().describe('A sentence a person can act on; its wording may change'),
  instance: z.string().describe('`urn:request:<X-Request-Id>`'),
  code: z.string().optional(),
  details: z.record(z.string(), z.unknown()),
  trace_id: z.string().describe('As in the header X-Trace-Id; name it when you report a fault'),
  retryable: z.boolean().describe('Whether the unchanged request may succeed later'),
});

const problemDetails = z
  .object({
    reason: z
      .string()
      .describe('What exactly went wrong, snake_case. Reasons keep their meaning; new ones may be added'),
    field: z.string().optional().describe('The header, parameter or field that is at fault'),
    scene_code: z.string().optional().describe('OP-TASK-SCENE-UNAVAILABLE: the scene that was asked for'),
    status: z.string().optional().describe('The state that a task has, where it stands in the way'),
    limit: z
      .union([z.string(), z.number()])
      .optional()
      .describe('OP-QUOTA-DAILY-EXHAUSTED: units a day. OP-QUOTA-RATE-LIMITED: name or number of the limit'),
    allowed: z.number().optional().describe('OP-QUOTA-RATE-LIMITED: how many may run at once'),
    active: z.number().optional().describe('OP-QUOTA-RATE-LIMITED: how many tasks run'),
    used: z.number().optional().describe('OP-QUOTA-DAILY-EXHAUSTED: units taken today'),
    requested: z.number().optional().describe('OP-QUOTA-DAILY-EXHAUSTED: units this request needs'),
    resets_at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('OP-QUOTA-DAILY-EXHAUSTED: when the next day begins'),
    evidence: z
      .object({
        job_status: z.string().nullable().describe('The state of the job; null when the backend has none now'),
        frames_published: z.number(),
        seen_before: z.boolean().describe('The backend has shown the job at an earlier time'),
      })
      .optional()
      .describe('`verification_disproved`: what the backend shows of the job'),
    allow: z.array(z.string()).optional().describe('405: methods of this path'),
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
      'Why a request was refused (RFC 9457). Without `code` on 403, 404, 405, 500 and conflicts of the admin API',
  });

export type Problem = z.infer<typeof problem>;
