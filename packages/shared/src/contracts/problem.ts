import { z } from 'zod';

/** Body of every error answer: RFC 9457 with this service's extensions. */
export const problem = z.object({
  type: z.string().describe('URI reference of the kind of problem'),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe('A sentence a person can act on'),
  instance: z.string().describe('urn:request:<X-Request-Id>'),
  code: z.string().optional().describe('OP-… code; absent on 404, 405 and 500'),
  details: z.record(z.string(), z.unknown()).describe('`reason` says what exactly, `field` where'),
  trace_id: z.string(),
  retryable: z.boolean().describe('Whether the unchanged request may succeed later'),
});

export type Problem = z.infer<typeof problem>;
