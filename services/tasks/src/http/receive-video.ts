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

/** Room for boundaries, part headers and the scene code, and for what is on its way to the count of the file itself. */
const FRAMING_BYTES = 2 * 1024 * 1024;

export interface ReceiveOptions {
  store: Pick<ObjectStore, 'put'>;
  /** Where the file goes; undefined: it is only looked at. */
  objectKey: string | undefined;
  idleMs: number;
  totalMs: number;
}

export interface ReceivedVideo extends VideoFacts {
  /** undefined when the form does not say. */
  sceneCode: string | undefined;
}

/**
 * Reads the whole body and stores its video on the way, a few MiB at a time; slows the client down when the store is
 * slow. Refuses as early as a fault shows, and has stopped writing when it rejects.
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

/** One of each refusal of its own. */
export const videoFormRefusals = (): AppError[] => [refuseNone(), tooLarge(MAX_VIDEO_BYTES), unsupported()];

/**
 * The file flows through the meter into the store. The store hears of it only once its beginning is that of a video.
 */
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
    // The cause that broke the stream explains more than the store's error that followed.
    const cause: unknown = await feeding.then(
      () => error,
      (fault: unknown) => fault,
    );
    throw asAppError(cause) ?? asAppError(error) ?? cause;
  }
}
