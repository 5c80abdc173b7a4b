import { z } from 'zod';

/**
 * Header of a response between services: the outcome of the request, for the span, the metrics and the access log of
 * the service that forwarded it. It never leaves the gateway. It is sent only for a request that has the header itself,
 * because the gateway of 0.2 passes unknown headers on to callers.
 */
export const outcomeHeader = 'x-outcome';

/** Request header that asks for it. */
export const outcomeWanted = { [outcomeHeader]: 'wanted' };

const word = z.string().regex(/^[\w-]{1,64}$/);
const count = z.coerce.number().int().min(0).max(1_000);

/** Outcome of a request. A refusal has a code or a reason, or both. */
const outcome = z.object({
  code: word.optional(),
  reason: word.optional(),
  /** Task status in the response to a create request. */
  task_status: word.optional(),
  images_succeeded: count.optional(),
  images_failed: count.optional(),
  /** The response repeats that to an earlier request with this key. */
  replayed: z.stringbool().optional(),
});

export type Outcome = z.infer<typeof outcome>;

/** The header's text. */
export function outcomeText(told: Outcome): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(told)) if (value !== undefined) text.set(name, String(value));
  return text.toString();
}

/** Reads the header; an empty outcome if it is invalid. */
export function readOutcome(header: string | string[] | undefined): Outcome {
  const parsed = outcome.safeParse(Object.fromEntries(new URLSearchParams(String(header ?? ''))));
  return parsed.success ? parsed.data : {};
}
