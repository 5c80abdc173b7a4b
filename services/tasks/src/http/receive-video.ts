import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { asAppError, fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import type { Form } from '@vision/creation/multipart/form';
import { readForm } from '@vision/creation/multipart/read-form';
import type { ObjectStore } from '@vision/objects/object-store';
import { MAX_VIDEO_BYTES, tooLarge, unsupported, VideoMeter } from './video-meter.ts';
import type { VideoFacts } from './video-meter.ts';

/** Allowance for boundaries, part headers, the scene code, and data before the file is counted. */
const FRAMING_BYTES = 2 * 1024 * 1024;

export interface ReceiveOptions {
  store: Pick<ObjectStore, 'put'>;
  /** Object key of the file; undefined: the file is only hashed, not stored. */
  objectKey: string | undefined;
  idleMs: number;
  totalMs: number;
}

export interface ReceivedVideo extends VideoFacts {
  /** Undefined when the form has no scene code. */
  sceneCode: string | undefined;
}

/**
 * Reads the whole body and streams its video to the store, a few MiB at a time; slows the client down when the store is
 * slow. Refuses as soon as a fault is found, and has stopped writing when it rejects.
 */
export async function receiveVideo(req: IncomingMessage, options: ReceiveOptions): Promise<ReceivedVideo> {
  const { files, values } = await readForm(req, videoForm(options));
  return { ...(files[0] as VideoFacts), sceneCode: values.get('scene_code') };
}

const field = 'file';

/** The form of an upload: one `file`, at most one `scene_code`. */
function videoForm(options: ReceiveOptions): Form<VideoFacts, 'scene_code'> {
  const { idleMs, totalMs } = options;
  return {
    files: {
      field,
      maxCount: 1,
      maxBytes: MAX_VIDEO_BYTES,
      store: ({ stream }, signal) => storeVideo(stream, options, signal),
      refuseNone,
      refuseTooMany: () => fail.requestInvalid('too_many_files', 'Send one video.', { field }),
      refuseTooLarge: () => tooLarge(MAX_VIDEO_BYTES),
    },
    values: ['scene_code'],
    limits: { maxBytes: MAX_VIDEO_BYTES + FRAMING_BYTES, idleMs, totalMs },
  };
}

const refuseNone = () => fail.requestInvalid('file_missing', 'Send one video in the field "file".', { field });

/** An example of each refusal that this form defines. */
export const videoFormRefusals = (): AppError[] => [refuseNone(), tooLarge(MAX_VIDEO_BYTES), unsupported()];

/** Streams the file through the meter into the store, which gets no request before the file begins like a video. */
async function storeVideo(
  file: Readable,
  { store, objectKey }: ReceiveOptions,
  signal: AbortSignal,
): Promise<VideoFacts> {
  const meter = new VideoMeter(MAX_VIDEO_BYTES);
  const body = new PassThrough();
  const feeding = pipeline(file, meter, body, { signal });
  feeding.catch(() => undefined);
  try {
    await meter.accepted;
    if (objectKey === undefined) body.resume();
    else await store.put({ key: objectKey, body, contentType: 'video/mp4', signal });
    await feeding;
    return meter.facts;
  } catch (error) {
    body.destroy(error as Error);
    // The cause that broke the stream explains more than the error of the store that followed.
    const cause: unknown = await feeding.then(
      () => error,
      (fault: unknown) => fault,
    );
    throw asAppError(cause) ?? asAppError(error) ?? cause;
  }
}
