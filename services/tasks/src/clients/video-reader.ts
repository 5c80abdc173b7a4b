import { PassThrough } from 'node:stream';
import type { Writable } from 'node:stream';
import { createGate, GateFullError } from '@vision/shared/async/gate';
import { asAppError, fail } from '@vision/contracts/errors';
import { readBody } from '@vision/shared/http/read-body';
import type { ObjectStoreOptions } from '@vision/objects/call-store';
import { createObjectStore } from '@vision/objects/object-store';
import { mediaTypeOf } from '../domain/video-type.ts';
import type { VideoMediaType } from '../domain/video-type.ts';

/** A stored video. */
export interface StoredVideo {
  key: string;
  bytes: number;
  mediaType: VideoMediaType;
}

interface VideoRange {
  key: string;
  first: number;
  bytes: number;
  /** Fair queueing of the connections to the store is by subject. */
  subject: string;
  signal: AbortSignal;
}

/**
 * Reads stored videos. Methods throw like those of `ObjectStore`, and `object_store_busy` when too many requests wait.
 */
export interface VideoReader {
  /** Size and type of a video; undefined when it is not stored. */
  find: (key: string, signal: AbortSignal) => Promise<StoredVideo | undefined>;
  /** Writes a range of a video to a stream and ends the stream. */
  send: (range: VideoRange, to: Writable) => Promise<void>;
  close: () => void;
}

/** Maximum of concurrent downloads, and of requests that wait for a free one. */
const AT_ONCE = 32;
const WAITING = 64;
const HEAD_BYTES = 12;

/** Downloads last as long as their readers take, so uploads do not share their connections. */
export function createVideoReader(options: ObjectStoreOptions): VideoReader {
  const store = createObjectStore({ ...options, maxSockets: AT_ONCE });
  const facts = createObjectStore({ ...options, maxSockets: 8 });
  const gate = createGate({ concurrency: AT_ONCE, queue: WAITING, leavesRoom: true });
  return {
    find: async (key, signal) => {
      const found = await facts.stat(key);
      if (!found || found.bytes < HEAD_BYTES) return undefined;
      const head = new PassThrough();
      const reading = readBody(head, HEAD_BYTES);
      reading.catch(() => undefined);
      try {
        await facts.getRange({ key, first: 0, bytes: HEAD_BYTES, signal }, head);
      } catch (error) {
        if (asAppError(error)?.kind === 'not_found') return undefined;
        throw error;
      }
      return { key, bytes: found.bytes, mediaType: mediaTypeOf(await reading) };
    },
    send: async ({ subject, ...range }, to) => {
      try {
        await gate.run(() => store.getRange(range, to), { owner: subject, signal: range.signal });
      } catch (error) {
        throw error instanceof GateFullError ? fail.sysUnavailable('object_store_busy', error) : error;
      }
    },
    close: () => [store, facts].forEach((each) => each.close()),
  };
}
