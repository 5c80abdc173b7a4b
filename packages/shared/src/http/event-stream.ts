import { once } from 'node:events';
import type { Response } from 'express';
import { z } from 'zod';
import type { ResponseDoc } from './route.ts';

/** Headers of a stream of server-sent events. */
export const EVENT_STREAM_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

/** The response that begins such a stream, for documents. */
export const eventStreamDoc: ResponseDoc = {
  description: 'Server-sent events',
  mediaTypes: ['text/event-stream'],
  headers: ['X-Accel-Buffering'],
};

/** Headers of a request that continues a stream, for documents. */
export const lastEventIdDoc = z.object({
  'Last-Event-ID': z.string().optional().describe('`id` of the last event that you have handled'),
});

/**
 * Sends events as fast as the client reads them. Sets a random reconnection delay of 0.5 to 5 s, so that the clients of
 * a stopping replica do not all reconnect at once.
 *
 * @param textOf an event in the text form of server-sent events
 * @param signal ends the stream
 */
export async function sendEventStream<Event>(
  res: Response,
  events: AsyncIterable<Event>,
  { textOf, signal }: { textOf: (event: Event) => string | Buffer; signal: AbortSignal },
): Promise<void> {
  res.status(200).set(EVENT_STREAM_HEADERS);
  res.write(`retry: ${Math.round(500 + 4500 * Math.random())}\n\n`);
  for await (const event of events) {
    if (signal.aborted) break;
    if (!res.write(textOf(event))) await once(res, 'drain', { signal }).catch(() => undefined);
  }
  res.end();
}
