import { Socket } from 'node:net';
import { createBudget } from '@vision/streams/budget';
import type { LiveInput } from './live-input.ts';
import { READER_FILES } from './messages.ts';
import type { Order } from './messages.ts';
import { openInput } from './open-input.ts';
import { createServiceLink } from './service-link.ts';
import { sourceReasonOf } from '@vision/streams/source-error';
import type { SourceReason } from '@vision/streams/source-error';

/**
 * Body of a process that reads one live source in a sandbox. It cannot open connections: the service connects and sends
 * it the sockets. Frames go to ffmpeg, facts to the service.
 */

/** Maximum time for closing the session with a server; the service kills a process that takes longer. */
const GOODBYE_MS = 500;

const link = createServiceLink();
const ended = new AbortController();
const video = new Socket({ fd: READER_FILES.video, readable: false, writable: true });
let input: LiveInput | undefined;
let budget = createBudget({ signal: ended.signal });
/** Set when ffmpeg ended first: later failures are its consequence and no fault of the source. */
let beforeThat: { reason: SourceReason | undefined } | undefined;
video.on('error', () => (beforeThat ??= { reason: input?.failure() }));

async function open(order: Extract<Order, { kind: 'open' }>): Promise<void> {
  budget = createBudget({ usage: order.usage, signal: ended.signal });
  try {
    input = await openInput({ ...order, connect: link.connect, budget, signal: ended.signal });
    link.tell({ kind: 'opened', ...input.format });
  } catch (error) {
    link.tell({ kind: 'ended', reason: sourceReasonOf(error), isFinished: false, usage: budget.usage() });
    process.exit();
  }
}

function leave(): void {
  const { reason } = beforeThat ?? { reason: input?.failure() };
  link.tell({ kind: 'ended', reason, isFinished: input?.isFinished() ?? false, usage: budget.usage() });
  // After the facts: an aborted fetch would be reported as a failure.
  input?.close();
  ended.abort();
  video.destroy();
  // Only connections that are closing their sessions still keep the process alive.
  process.channel?.unref();
  setTimeout(() => process.exit(), GOODBYE_MS).unref();
}

link.listen((order) => {
  if (order.kind === 'open') void open(order);
  else if (order.kind === 'play') input?.feed(video);
  else leave();
});
