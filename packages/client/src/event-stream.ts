import { createParser } from 'eventsource-parser';

/** An event, or a comment that moved the cursor on. */
export interface StreamEvent {
  id: string | undefined;
  type?: string | undefined;
  data?: string;
}

export interface StreamOptions {
  /** Called when the service says how long to wait before the next connection. */
  onRetry: (ms: number) => void;
  /** Called before and after waiting for bytes; not while the reader of the events is busy. */
  onWait: () => void;
  onBytes: () => void;
}

/** The server-sent events of an answer until it ends. */
export async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  { onRetry, onWait, onBytes }: StreamOptions,
): AsyncGenerator<StreamEvent, void> {
  let events: StreamEvent[] = [];
  const parser = createParser({
    onRetry,
    onId: (id) => events.push({ id }),
    onEvent({ id, event, data }) {
      // Its id was reported just before, by itself.
      if (id !== undefined) events.pop();
      events.push({ id, type: event, data });
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      onWait();
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      parser.feed(decoder.decode(value, { stream: true }));
      const arrived = events;
      events = [];
      yield* arrived;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
