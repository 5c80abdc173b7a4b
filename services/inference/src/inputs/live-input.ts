import type { Writable } from 'node:stream';
import type { Connect } from '@vision/streams/http-get';
import type { StreamUrl } from '@vision/streams/stream-url';
import type { SourceReason } from '@vision/streams/source-error';
import type { Budget } from '@vision/streams/budget';
import type { LiveFormat } from './messages.ts';

/** An open source: its format, and the network side behind it. */
export interface LiveInput {
  format: LiveFormat;
  /** Starts writing what ffmpeg reads. */
  feed: (video: Writable) => void;
  /** The failure of the network side, if there was one. */
  failure: () => SourceReason | undefined;
  /** Whether the source told that it is complete. */
  isFinished: () => boolean;
  close: () => void;
}

export interface OpenOptions {
  url: StreamUrl;
  /**
   * Asks the service for a connection: it alone resolves names, checks addresses and connects. @throws SourceError with
   * the service's reason; `connection_failed` when the signal aborts
   */
  connect: Connect;
  /** Longest time for each answer of a handshake. */
  openTimeoutMs: number;
  budget: Budget;
  signal: AbortSignal;
}

export interface HttpOptions extends OpenOptions {
  /** Certificates to trust instead of those of Node.js. */
  ca?: string | undefined;
}
