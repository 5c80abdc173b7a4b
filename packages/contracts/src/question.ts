import type { z } from 'zod';

/**
 * What one of our services asks another over HTTP: everything that both sides have to agree on. The service that
 * answers spreads it into its route, the one that asks hands it to `ServiceClient.ask`.
 *
 * Two versions of a service run side by side during a rollout, so both sides ignore fields that they do not know
 * (`z.object`, never `z.strictObject`). A field is added in one release and relied on in the next.
 */
export interface Question<P, Q, B, R> {
  method: 'get' | 'post' | 'put';
  /** OpenAPI form; parameters are percent-encoded: `/internal/v1/tasks/{task_id}`. */
  path: string;
  params?: z.ZodType<P> | undefined;
  query?: z.ZodType<Q> | undefined;
  body?: z.ZodType<B> | undefined;
  reply: z.ZodType<R>;
  /** Refusals that tell the asking side something. Any other is a fault of one of the two services. */
  refusals?: ('not_found' | 'conflict')[] | undefined;
}

/** Declares a question; parts that are left out are `undefined` for both sides. */
export function defineQuestion<P = undefined, Q = undefined, B = undefined, R = unknown>(
  question: Question<P, Q, B, R>,
): Question<P, Q, B, R> {
  return question;
}

/** Path and query of a question; what a question does not have is `undefined`. */
export function pathTo(path: string, params: unknown, query: unknown): string {
  const values = new Map(Object.entries(params ?? {}));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(String(values.get(name))));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? filled : `${filled}?${search.toString()}`;
}
