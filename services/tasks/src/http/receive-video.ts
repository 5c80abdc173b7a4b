import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fail } from '@vision/shared/errors';
import { guardBody } from '@vision/shared/http/body-guard';
import type { ObjectStore } from '@vision/shared/object-store/object-store';
import { MAX_VIDEO_BYTES, VideoMeter } from '../clients/video-meter.ts';
import type { VideoFacts } from '../clients/video-meter.ts';
import { parseVideoForm } from './parse-video-form.ts';
import type { VideoForm } from './parse-video-form.ts';

/** Room for boundaries, part headers and the scene code, and for what is on its way to the count of the file itself. */
const FRAMING_BYTES = 2 * 1024 * 1024;

export interface ReceiveOptions {
  objects: Pick<ObjectStore, 'put'>;
  /** Where the file goes; undefined: it is only looked at. */
  objectKey: string | undefined;
  idleMs: number;
  totalMs: number;
}

/** @throws AppError OP-TASK-REQUEST-INVALID unless the body is multipart/form-data, not compressed. */
export function requireMultipart(req: IncomingMessage): void {
  if (!/^multipart\/form-data\s*;.*boundary=/i.test(req.headers['content-type'] ?? '')) {
    throw fail.requestInvalid('content_type_invalid', 'Send the body as multipart/form-data with a boundary.', {
      field: 'Content-Type',
    });
  }
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw fail.requestInvalid('content_encoding_unsupported', 'Send the body without Content-Encoding.', {
      field: 'Content-Encoding',
    });
  }
}

/**
 * Reads the whole body and stores its video on the way, a few MiB at a time; slows the client down when the store is slow.
 * Refuses as early as a fault shows, and has stopped writing when it rejects.
 */
export async function receiveVideo(req: IncomingMessage, options: ReceiveOptions): Promise<VideoForm> {
  if (req.destroyed) throw fail.requestInvalid('body_incomplete', 'The body ended too early.');
  const { idleMs, totalMs } = options;
  const guard = guardBody(req, { maxBytes: MAX_VIDEO_BYTES + FRAMING_BYTES, idleMs, totalMs });
  const broken = new AbortController();
  const fault = new AbortController();
  const faulty = new Promise<never>((_resolve, reject) => {
    fault.signal.addEventListener('abort', () => reject(fault.signal.reason as Error), { once: true });
  });
  const reader = parseVideoForm(req, (file) => storeVideo(file, options, { signal: broken.signal, fault }));
  try {
    return await Promise.race([reader.form, guard.broken, faulty]);
  } catch (error) {
    broken.abort(error);
    await reader.abort(error as Error);
    throw error;
  } finally {
    guard.release();
  }
}

async function storeVideo(
  file: Readable,
  { objects, objectKey }: ReceiveOptions,
  { signal, fault }: { signal: AbortSignal; fault: AbortController },
): Promise<VideoFacts> {
  const meter = new VideoMeter(MAX_VIDEO_BYTES);
  const body = new PassThrough();
  const feeding = pipeline(file, meter, body, { signal });
  // A fault of the file is told at once, while the store still ends what it had begun.
  feeding.catch((error: unknown) => {
    if (isOurs(error)) fault.abort(error);
  });
  try {
    // The store hears of a file only when it is one.
    await Promise.race([meter.accepted, feeding]);
    if (objectKey === undefined) body.resume();
    else await objects.put({ key: objectKey, body, contentType: 'video/mp4', signal });
    await feeding;
    return meter.facts;
  } catch (error) {
    body.destroy(error as Error);
    // What broke the stream says more than what the store made of it.
    await feeding.catch((cause: unknown) => {
      throw signal.aborted ? signal.reason : isOurs(error) ? error : cause;
    });
    throw error;
  }
}

const isOurs = (error: unknown): boolean => (error as { name?: string } | null)?.name === 'AppError';
