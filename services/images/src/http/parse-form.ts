import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import multer from 'multer';
import { fail } from '@vision/shared/errors';
import type { SpoolSession } from '../clients/spool.ts';
import { MAX_IMAGE_BYTES, MAX_IMAGES } from '../domain/upload-rules.ts';
import type { ReceivedImage } from '../use-cases/process-image.ts';
import { receiveImage } from './receive-image.ts';
import { formRefusal, refuseCount, refuseField, refusePart } from './form-refusals.ts';

export interface Upload {
  images: ReceivedImage[];
  /** undefined when the form does not say. */
  sceneCode: string | undefined;
}

export interface FormReader {
  /** Rejects at the first fault, while the rest of the body may still be on its way. */
  upload: Promise<Upload>;
  /** Ends parsing; resolves when no image is being written any more. */
  abort: (error: Error) => Promise<void>;
}

const limits = {
  fileSize: MAX_IMAGE_BYTES,
  files: MAX_IMAGES,
  fields: 2,
  parts: MAX_IMAGES + 2,
  fieldSize: 1024,
  fieldNameSize: 100,
  headerPairs: 20,
  fieldNestingDepth: 0,
  fieldArrayIndexLimit: 0,
};

interface FieldInfo {
  nameTruncated: boolean;
  valueTruncated: boolean;
}
interface FileInfo {
  filename: string | undefined;
}

/**
 * Parses the form of an image call: `files` 1 to 10 times, `scene_code` at most once, in any order, nothing else. Attaches to
 * the request in this tick.
 */
export function parseForm(req: IncomingMessage, session: SpoolSession): FormReader {
  let resolve: (upload: Upload) => void = () => undefined;
  let reject: (refusal: unknown) => void = () => undefined;
  const upload = new Promise<Upload>((settle, refuse) => {
    resolve = settle;
    reject = refuse;
  });
  upload.catch(() => undefined);
  const images: ReceivedImage[] = [];
  const writing = new Set<Promise<void>>();
  const scene: { code?: string } = {};
  let parser: Writable | undefined;
  let seen = 0;
  const storage: multer.StorageEngine = {
    _handleFile: (_req, file, done) => {
      const seq = seen;
      seen += 1;
      const work = receiveImage(file.stream, file.mimetype, session).then(
        (image) => {
          images[seq] = image;
          done(null, { size: image.bytes });
        },
        (error: unknown) => {
          reject(error);
          done(error);
        },
      );
      writing.add(work);
      void work.finally(() => writing.delete(work));
    },
    // The session gives all files back at once.
    _removeFile: (_req, _file, done) => done(null),
  };
  const streamHandler = (request: IncomingMessage, stream: Writable) => {
    parser = watch(stream, scene, reject);
    request.pipe(parser);
  };
  const finish = (error: unknown) => {
    if (error) reject(formRefusal(error));
    else if (images.length === 0) reject(refuseCount());
    else resolve({ images, sceneCode: scene.code });
  };
  const read = multer(withParser({ storage, limits }, streamHandler)).array('files', MAX_IMAGES) as unknown as (
    req: IncomingMessage,
    res: ServerResponse | undefined,
    next: (error: unknown) => void,
  ) => void;
  read(req, undefined, finish);
  return {
    upload,
    abort: async (error) => {
      if (parser) req.unpipe(parser);
      parser?.destroy(error);
      await Promise.allSettled(writing);
    },
  };
}

// multer 2.5 takes a streamHandler, its types do not know it yet.
function withParser(
  options: multer.Options,
  streamHandler: (req: IncomingMessage, parser: Writable) => void,
): multer.Options {
  return Object.assign(options, { streamHandler });
}

/**
 * Refuses what multer would only count, skip or report late: its verdict comes when the body has ended, the events of the
 * parser under it come at once.
 */
function watch(parser: Writable, scene: { code?: string }, reject: (refusal: unknown) => void): Writable {
  return parser
    .on('field', (name: string | undefined, value: string, { nameTruncated, valueTruncated }: FieldInfo) => {
      const refusal = refuseField(name, { nameTruncated, valueTruncated, repeated: scene.code !== undefined });
      if (refusal) reject(refusal);
      else scene.code = value;
    })
    .on('file', (name: string | undefined, stream: Readable, { filename }: FileInfo) => {
      stream.on('error', () => undefined);
      const refusal = refusePart(name, filename);
      if (refusal) reject(refusal);
    })
    .on('filesLimit', () => reject(refuseCount()))
    .on('fieldsLimit', () => reject(fail.requestInvalid('too_many_fields', 'The form has too many fields.')))
    .on('partsLimit', () => reject(fail.requestInvalid('too_many_parts', 'The form has too many parts.')))
    .on('error', (error: unknown) => reject(formRefusal(error)));
}
