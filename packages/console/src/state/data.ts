import { VisionError } from '@vision/client';
import type { Problem } from '@vision/client';

/** The body of an answer. @throws VisionError when it is a refusal; TypeError when it is not from the service. */
export function dataOf<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data !== undefined) return data;
  if (isProblem(error)) throw new VisionError(error);
  throw new TypeError('the answer does not come from the service');
}

/** The body of an answer; undefined when the service says that there is no such thing. @throws as `dataOf` */
export const foundOf = <T>(answer: { data?: T; error?: unknown }): T | undefined =>
  isProblem(answer.error) && answer.error.status === 404 ? undefined : dataOf(answer);

const isProblem = (error: unknown): error is Problem =>
  typeof error === 'object' && error !== null && 'details' in error;
