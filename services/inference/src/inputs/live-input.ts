import type { Writable } from 'node:stream';
import type { StreamUrl } from '@vision/shared/net/stream-url';
import type { SourceReason } from '../domain/source-error.ts';
import type { SourceAddresses } from './source-addresses.ts';

/** An open live source: what ffmpeg is told to read, and the network side behind it. */
export interface LiveInput {
  /** ffmpeg arguments up to and with `-i`. They name no host, path or credential of the source. */
  args: string[];
  /** Starts what ffmpeg reads from its standard input. */
  feed: (stdin: Writable) => void;
  /** What went wrong on the network side, if anything did. */
  failure: () => SourceReason | undefined;
  /** Whether the source told that it is complete. */
  isFinished: () => boolean;
  close: () => void;
}

/** What openers need to know of a source and of the rules. */
export interface OpenOptions {
  url: StreamUrl;
  /** The one address to connect to. */
  address: string;
  /** Longest time for a connection, and for each answer of a handshake. */
  openTimeoutMs: number;
  signal: AbortSignal;
}

export interface HttpOptions extends OpenOptions {
  /** For the addresses that a playlist names: the same rules hold for them. */
  addresses: SourceAddresses;
  /** Certificates to trust instead of the system's. */
  ca?: string | undefined;
}

/**
 * ffmpeg looks at this much of a stream before the first frame: less than a second of it, so frames are not held back.
 */
export const LIVE_PROBING = ['-probesize', '1000000', '-analyzeduration', '500000', '-fpsprobesize', '0'];
