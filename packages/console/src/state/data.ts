import { VisionError } from '@vision/client';
import type { Problem } from '@vision/client';

/** The body of an answer. @throws VisionError when it is a refusal; TypeError when it is not from the service. */
export function dataOf<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data !== undefined) return data;
  if (typeof error === 'object' && error !== null && 'details' in error) throw new VisionError(error as Problem);
  throw new TypeError('the answer does not come from the service');
}
