import type { StreamUrl } from '@vision/streams/stream-url';
import type { SourceReason } from '@vision/streams/source-error';
import type { BudgetUsage } from '@vision/streams/budget';
import type { ContainerFormat } from '@vision/streams/container-format';

/** Format that ffmpeg will read from a source. The service derives ffmpeg's arguments from it. */
export interface LiveFormat {
  container: Exclude<ContainerFormat, 'hls'>;
  /**
   * `recording`: has an end and is read at its own pace. `pieces`: HLS segments, likewise. `body`: an endless response.
   * `packed`: frames that the reader extracted from RTSP or RTMP.
   */
  delivery: 'body' | 'recording' | 'pieces' | 'packed';
}

/** Messages from the service to a reader, over the channel that carries sockets. */
export type Order =
  | {
      kind: 'open';
      url: StreamUrl;
      openTimeoutMs: number;
      /** Certificates to trust instead of those of Node.js. */
      ca?: string | undefined;
      /** Budget used by earlier connections to the stream. */
      usage?: BudgetUsage | undefined;
    }
  /** Comes with the connected socket. */
  | { kind: 'connected'; id: number }
  | { kind: 'refused'; id: number; reason: SourceReason }
  /** ffmpeg is ready to read. */
  | { kind: 'play' }
  /** The source is no longer needed; the answer is `ended`. */
  | { kind: 'leave' };

/** Messages from a reader to the service, over a pipe. */
export type Fact =
  | { kind: 'connect'; id: number; host: string; port: number }
  /** The socket of a connection has arrived. */
  | { kind: 'taken'; id: number }
  | ({ kind: 'opened' } & LiveFormat)
  /** Why the source failed, if it did, and whether it was complete. No fact follows. */
  | { kind: 'ended'; reason?: SourceReason | undefined; isFinished: boolean; usage: BudgetUsage };

/** Largest fact, in bytes: a host has at most 253 characters. */
export const MAX_FACT_BYTES = 1024;
/** The kind of frame that carries a fact as JSON. */
export const FACT = 1;

/** Descriptors of a reader. */
export const READER_FILES = { facts: 1, video: 3, channel: 4 } as const;
