import { inForeignSpan } from '@vision/shared/telemetry/foreign-span';
import type { StreamUrl } from './stream-url.ts';

/** Runs what talks to a stream in one span of its own: scheme and host are all that spans may hold of its address. */
export function inStreamSpan<T>(
  name: string,
  address: Pick<StreamUrl, 'scheme' | 'host'>,
  work: () => Promise<T>,
): Promise<T> {
  return inForeignSpan({ tracer: 'vision.streams', name }, address, work);
}
