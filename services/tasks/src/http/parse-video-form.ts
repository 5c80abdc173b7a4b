import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import multer from 'multer';
import { asAppError, fail } from '@vision/shared/errors';
import { asUnavailable } from '@vision/shared/unavailable';
import { MAX_VIDEO_BYTES, tooLarge } from '../clients/video-meter.ts';
import type { VideoFacts } from '../clients/video-meter.ts';

export interface VideoForm {
  video: VideoFacts;
  /** undefined when the form does not say. */
  sceneCode: string | undefined;
}

export interface FormReader {
  /** Rejects at the first fault, while the rest of the body may still be on its way. */
  form: Promise<VideoForm>;
  /** Ends parsing; resolves when nothing is being stored any more. */
  abort: (error: Error) => Promise<void>;
}

const FILE_FIELD = 'file';
const VALUE_FIELD = 'scene_code';

const limits = {
  fileSize: MAX_VIDEO_BYTES,
  files: 1,
  fields: 2,
  parts: 3,
  fieldSize: 1024,
  fieldNameSize: 100,
  headerPairs: 20,
  fieldNestingDepth: 0,
  fieldArrayIndexLimit: 0,
};

/**
 * Parses the form of an upload: one `file`, at most one `scene_code`, in any order, nothing else. Attaches to the request in
 * this tick; `store` gets the file while it arrives.
 */
export function parseVideoForm(req: IncomingMessage, store: (file: Readable) => Promise<VideoFacts>): FormReader {
  const outcome = deferred<VideoForm>();
  const seen: { video?: VideoFacts; sceneCode?: string } = {};
  let storing: Promise<unknown> = Promise.resolve();
  let parser: Writable | undefined;
  const storage: multer.StorageEngine = {
    _handleFile: (_req, file, done) => {
      storing = store(file.stream).then(
        (video) => {
          seen.video = video;
          done(null, { size: video.bytes });
        },
        (error: unknown) => {
          outcome.reject(formRefusal(error));
          done(error);
        },
      );
    },
    // What was stored is given back with the draft.
    _removeFile: (_req, _file, done) => done(null),
  };
  const streamHandler = (request: IncomingMessage, stream: Writable) => {
    parser = watch(stream, seen, outcome.reject);
    request.pipe(parser);
  };
  const finish = (error: unknown) => {
    if (error) outcome.reject(formRefusal(error));
    else if (!seen.video)
      outcome.reject(fail.requestInvalid('file_missing', 'Send one video in the field "file".', { field: FILE_FIELD }));
    else outcome.resolve({ video: seen.video, sceneCode: seen.sceneCode });
  };
  const read = multer(withParser({ storage, limits }, streamHandler)).single(FILE_FIELD) as unknown as (
    req: IncomingMessage,
    res: ServerResponse | undefined,
    next: (error: unknown) => void,
  ) => void;
  read(req, undefined, finish);
  return {
    form: outcome.promise,
    abort: async (error) => {
      if (parser) req.unpipe(parser);
      parser?.destroy(error);
      await storing;
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

interface FieldInfo {
  nameTruncated: boolean;
  valueTruncated: boolean;
}

/** Refuses at once what multer would report only when the body has ended. */
function watch(parser: Writable, seen: { sceneCode?: string }, reject: (error: Error) => void): Writable {
  return parser
    .on('field', (name: string | undefined, value: string, info: FieldInfo) => {
      if (name !== VALUE_FIELD || info.nameTruncated) reject(unknownField(name));
      else if (seen.sceneCode !== undefined)
        reject(fail.requestInvalid('field_repeated', 'scene_code was sent twice.', { field: VALUE_FIELD }));
      else if (info.valueTruncated)
        reject(fail.requestInvalid('field_too_long', 'scene_code is too long.', { field: VALUE_FIELD }));
      else seen.sceneCode = value;
    })
    .on('file', (name: string | undefined, stream: Readable, { filename }: { filename: string | undefined }) => {
      stream.on('error', () => undefined);
      if (name !== FILE_FIELD) reject(unknownField(name));
      else if (!filename)
        reject(fail.requestInvalid('file_name_missing', 'Send the file with a file name.', { field: FILE_FIELD }));
    })
    .on('filesLimit', () => reject(fail.requestInvalid('too_many_files', 'Send one video.', { field: FILE_FIELD })))
    .on('fieldsLimit', () => reject(fail.requestInvalid('too_many_fields', 'The form has too many fields.')))
    .on('partsLimit', () => reject(fail.requestInvalid('too_many_parts', 'The form has too many parts.')))
    .on('error', (error: unknown) => reject(formRefusal(error)));
}

function formRefusal(error: unknown): Error {
  const known = asAppError(error) ?? asUnavailable(error);
  if (known) return known;
  const { code, field } = error as { code?: unknown; field?: string };
  if (code === 'LIMIT_FILE_SIZE') return tooLarge(MAX_VIDEO_BYTES);
  if (code === 'LIMIT_UNEXPECTED_FILE') return unknownField(field);
  if (typeof code === 'string' && code.startsWith('LIMIT_FIELD')) return unknownField(field);
  return Object.assign(fail.requestInvalid('multipart_malformed', 'The body is not a complete multipart form.'), {
    cause: error,
  });
}

function unknownField(name: string | undefined) {
  return fail.requestInvalid('unknown_field', `Only "${FILE_FIELD}" and "${VALUE_FIELD}" are accepted.`, {
    field: (name ?? '').slice(0, 100),
  });
}

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((settle, refuse) => {
    resolve = settle;
    reject = refuse;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
