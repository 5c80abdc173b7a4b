import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { fail } from '@vision/contracts/errors';
import { isVideo, SNIFF_BYTES } from '../domain/video-type.ts';

/** 512 MB of the contract: 512 × 2²⁰ bytes. */
export const MAX_VIDEO_BYTES = 512 * 1024 * 1024;

export interface VideoFacts {
  sha256: string;
  bytes: number;
}

/**
 * Counts and hashes a file on its way, and forwards no byte before the file begins like a video. Fails with AppError
 * OP-TASK-REQUEST-INVALID `file_type_unsupported` | `file_too_large`.
 */
export class VideoMeter extends Transform {
  readonly #hash = createHash('sha256');
  readonly #maxBytes: number;
  #head: Buffer | undefined = Buffer.alloc(0);
  #bytes = 0;
  readonly #acceptance = Promise.withResolvers<void>();
  /** Resolves once the beginning is that of a video; rejects when the stream breaks before. */
  readonly accepted = this.#acceptance.promise;

  constructor(maxBytes: number) {
    super();
    this.#maxBytes = maxBytes;
    this.accepted.catch(() => undefined);
  }

  /** Set when the file has ended. */
  get facts(): VideoFacts {
    return { sha256: this.#hash.copy().digest('hex'), bytes: this.#bytes };
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#bytes += chunk.length;
    this.#hash.update(chunk);
    if (this.#bytes > this.#maxBytes) done(tooLarge(this.#maxBytes));
    else if (this.#head === undefined) done(null, chunk);
    else this.#sniff(Buffer.concat([this.#head, chunk]), false, done);
  }

  override _flush(done: TransformCallback): void {
    if (this.#head === undefined) done();
    else this.#sniff(this.#head, true, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#acceptance.reject(error ?? new Error('The file ended before its beginning was seen.'));
    done(error);
  }

  #sniff(head: Buffer, isWhole: boolean, done: TransformCallback): void {
    const verdict = isVideo(head, isWhole || head.length >= SNIFF_BYTES);
    if (verdict === false) {
      done(unsupported());
      return;
    }
    this.#head = verdict ? undefined : head;
    if (!verdict) {
      done();
      return;
    }
    this.#acceptance.resolve();
    done(null, head);
  }
}

export const tooLarge = (maxBytes: number) =>
  fail.requestInvalid('file_too_large', `The file is larger than ${maxBytes} bytes.`, { field: 'file' });

export const unsupported = () =>
  fail.requestInvalid('file_type_unsupported', 'The file is no MP4 or MOV video.', { field: 'file' });
