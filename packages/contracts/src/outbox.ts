import { z } from 'zod';
import { defineQuestion } from './question.ts';

/** An instant with any offset, brought to UTC and into the years that every program can write. */
const instant = z.iso.datetime({ offset: true }).overwrite((text) => {
  const at = Date.parse(text);
  // This also runs for what the format refuses.
  return Number.isNaN(at) ? text : new Date(Math.min(Math.max(at, 0), LATEST)).toISOString();
});
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** Where a page ended: microseconds since 1970 and the number of the row. */
const place = /^\d{1,16}\/\d{1,18}$/;

export const republishRequest = z.object({
  from: instant.describe('Start of the period'),
  to: instant.describe('End of the period, exclusive'),
  dry_run: z.boolean().describe('True to count the events without publishing them'),
  after: z.string().regex(place).optional().describe('next_cursor of the page before'),
  limit: z.int().min(1).max(5000).default(1000).describe('Events in one call'),
});

export const republished = z
  .object({
    events: z.int().min(0).describe('Events that this call published; with `dry_run`, the events of the whole period'),
    by_type: z.record(z.string(), z.int()),
    first_at: z.iso.datetime().optional(),
    last_at: z.iso.datetime().optional(),
    next_cursor: z.string().describe('Empty when there are no more'),
  })
  .meta({ id: 'RepublishedEvents' });

/** Publish events again that were published in a time and are still kept. Their ids stay, so repeats change nothing. */
export const republishOutbox = defineQuestion({
  method: 'post',
  path: '/internal/v1/outbox/republish',
  body: republishRequest,
  reply: republished,
});

export type RepublishRequest = z.infer<typeof republishRequest>;
export type Republished = z.infer<typeof republished>;
