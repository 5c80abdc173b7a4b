import { addAbortListener } from 'node:events';
import type { Socket } from 'node:net';
import type { StreamUrl } from '@vision/streams/stream-url';
import { SourceError, sourceReasonOf } from '@vision/streams/source-error';
import type { SourceReason } from '@vision/streams/source-error';
import type { BudgetUsage } from '@vision/streams/budget';
import type { Fact, LiveFormat } from '../inputs/messages.ts';
import { withinTime } from '@vision/streams/within-time';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Connector } from './connector.ts';
import { startReaderProcess } from './reader-process.ts';
import type { ReaderProcess } from './reader-process.ts';

/** An open live source, read in a separate process. */
export interface LiveReader {
  readonly format: LiveFormat;
  readonly processGroup: number | undefined;
  /** Becomes ffmpeg's standard input. */
  readonly video: Socket;
  /** Starts the output of frames. */
  play: () => void;
  /** Closes the source. Settles when the process has ended. */
  close: () => Promise<void>;
  /** After `close`: the failure of the source, `decoder_failed` when the process crashed. */
  failure: () => SourceReason | undefined;
  /** After `close`: whether the source was complete. */
  isFinished: () => boolean;
  /** After `close`: whether the process ended without a report. */
  isLost: () => boolean;
}

/** Budget used by a stream, across its connections. */
export interface StreamUsage {
  last?: BudgetUsage;
}

export interface ReaderOptions {
  sandbox: Sandbox;
  connector: Connector;
  url: StreamUrl;
  openTimeoutMs: number;
  /** Time for the reader to close, before it is killed. */
  leaveMs: number;
  ca?: string | undefined;
  usage: StreamUsage;
  /** Called with the process group when it has started, before the source is open. */
  onStarted?: ((processGroup: number) => void) | undefined;
  signal: AbortSignal;
}

/** Maximum number of connections that a reader waits for or has not used yet. */
const MAX_WAITING = 8;
/** A source ends at its first refusals; a reader that continued could fill the channel by not reading it. */
const MAX_REFUSED = 64;
/** More handshakes than any protocol has, and the first HLS segment; readers enforce shorter times themselves. */
const MOST_HANDSHAKES = 12;
const FIRST_PIECE_MS = 120_000;

/**
 * Starts a reader and waits until it has opened the source. The process has ended when this rejects.
 * @throws SourceError; any error of `Sandbox.spawn`
 */
export async function startReader(options: ReaderOptions): Promise<LiveReader> {
  const { sandbox, connector, url, openTimeoutMs, leaveMs, ca, usage, signal } = options;
  const conversation = createConversation(connector, usage);
  const reader = startReaderProcess(sandbox, (fact) => conversation.hear(reader, fact));
  if (reader.processGroup !== undefined) options.onStarted?.(reader.processGroup);
  void reader.gone.then(() => conversation.fail('decoder_failed'));
  const givenUp = addAbortListener(signal, () => {
    conversation.fail('connection_failed');
    reader.kill();
  });
  reader.tell({ kind: 'open', url, openTimeoutMs, ca, usage: usage.last });
  try {
    const mostMs = MOST_HANDSHAKES * openTimeoutMs + FIRST_PIECE_MS;
    const format = await withinTime(conversation.opened, mostMs, reader.kill);
    return opened(reader, { format, leaveMs }, conversation);
  } catch (error) {
    reader.kill();
    await reader.gone;
    throw error;
  } finally {
    givenUp[Symbol.dispose]();
  }
}

type Ended = Extract<Fact, { kind: 'ended' }>;

interface Conversation {
  /** @throws Error for a fact that our reader never sends; it ends the process */
  hear: (reader: ReaderProcess, fact: Fact) => void;
  fail: (reason: SourceReason) => void;
  opened: Promise<LiveFormat>;
  ended: () => Ended | undefined;
}

function createConversation(connector: Connector, usage: StreamUsage): Conversation {
  const opening = Promise.withResolvers<LiveFormat>();
  opening.promise.catch(() => undefined);
  const waiting = new Set<number>();
  let refused = 0;
  let isOpen = false;
  let ended: Ended | undefined;

  const connect = async (reader: ReaderProcess, { id, host, port }: Extract<Fact, { kind: 'connect' }>) => {
    if (waiting.size >= MAX_WAITING || waiting.has(id)) throw new Error('more connections than a reader needs');
    waiting.add(id);
    try {
      reader.hand(id, await connector.connect({ host, port }));
    } catch (error) {
      waiting.delete(id);
      refused += 1;
      if (refused > MAX_REFUSED) throw new Error('more refusals than a source survives');
      reader.tell({ kind: 'refused', id, reason: sourceReasonOf(error) });
    }
  };

  return {
    opened: opening.promise,
    ended: () => ended,
    fail: (reason) => opening.reject(new SourceError(reason)),
    hear: (reader, fact) => {
      if (ended) throw new Error('a fact after the last one');
      if (fact.kind === 'connect') void connect(reader, fact).catch(reader.kill);
      else if (fact.kind === 'taken') waiting.delete(fact.id);
      else if (fact.kind === 'ended') {
        ended = fact;
        usage.last = fact.usage;
        opening.reject(new SourceError(fact.reason ?? 'stream_ended'));
      } else {
        if (isOpen) throw new Error('opened twice');
        isOpen = true;
        opening.resolve({ container: fact.container, delivery: fact.delivery });
      }
    },
  };
}

function opened(
  reader: ReaderProcess,
  { format, leaveMs }: { format: LiveFormat; leaveMs: number },
  conversation: Conversation,
): LiveReader {
  let closing: Promise<void> | undefined;
  const leave = async () => {
    reader.tell({ kind: 'leave' });
    const timer = setTimeout(reader.kill, leaveMs);
    await reader.gone.finally(() => clearTimeout(timer));
  };
  return {
    format,
    processGroup: reader.processGroup,
    video: reader.video,
    play: () => reader.tell({ kind: 'play' }),
    close: () => (closing ??= leave()),
    failure: () => (conversation.ended() ? conversation.ended()?.reason : 'decoder_failed'),
    isFinished: () => conversation.ended()?.isFinished ?? false,
    isLost: () => conversation.ended() === undefined,
  };
}
