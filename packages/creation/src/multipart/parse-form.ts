import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import multer from 'multer';
import { fail } from '@vision/contracts/errors';
import { refusalOfParser, refuseFile, refuseValue } from './form.ts';
import type { Form, FormShape, ReceivedForm } from './form.ts';

export interface FormEvents<File, Value extends string> {
  onReceived: (form: ReceivedForm<File, Value>) => void;
  /**
   * Called at the first fault, while the rest of the body may still be on its way, and perhaps again for later ones.
   */
  onFault: (error: unknown) => void;
}

export interface FormParser {
  /** Ends parsing; resolves when no file is being stored any more. */
  stop: (error: Error) => Promise<void>;
}

/** Attaches multer to the request, in this tick. `signal` is handed to what stores the files. */
export function parseForm<File, Value extends string>(
  req: IncomingMessage,
  form: Form<File, Value>,
  { onReceived, onFault }: FormEvents<File, Value>,
  signal: AbortSignal,
): FormParser {
  const values = new Map<Value, string>();
  const { storage, files, settled } = storageFor(form, onFault, signal);
  let parser: Writable | undefined;
  const options = {
    storage,
    limits: limitsOf(form),
    // multer 2.5 takes a streamHandler; its types do not know it yet.
    streamHandler: (request: IncomingMessage, stream: Writable) => {
      parser = watch(stream, { form, values, onFault });
      request.pipe(parser);
    },
  };
  // The types of multer want Express; it needs the plain request and does not touch the response.
  const read = multer(options).array(form.files.field, form.files.maxCount) as unknown as (
    req: IncomingMessage,
    res: ServerResponse | undefined,
    next: (error: unknown) => void,
  ) => void;
  read(req, undefined, (error) => {
    if (error) onFault(refusalOfParser(form, error));
    else if (files.length === 0) onFault(form.files.refuseNone());
    else onReceived({ files, values });
  });
  return {
    stop: async (error) => {
      if (parser) req.unpipe(parser);
      parser?.destroy(error);
      await settled();
    },
  };
}

/** What multer hands the files to: each goes to `store` of the form. */
function storageFor<File>(form: Form<File, string>, onFault: (error: unknown) => void, signal: AbortSignal) {
  const files: File[] = [];
  const storing = new Set<Promise<void>>();
  let seen = 0;
  const storage: multer.StorageEngine = {
    _handleFile: (_req, { stream, mimetype }, done) => {
      const position = seen;
      seen += 1;
      const work = form.files.store({ stream, declaredType: mimetype }, signal).then(
        (file) => {
          files[position] = file;
          done(null, {});
        },
        (error: unknown) => {
          // An error of the stream itself is the parser's: the form ended in the middle of the file.
          onFault(error === stream.errored ? refusalOfParser(form, error) : error);
          done(error);
        },
      );
      storing.add(work);
      void work.finally(() => storing.delete(work));
    },
    // The caller of the form removes what was stored.
    _removeFile: (_req, _file, done) => done(null),
  };
  return { storage, files, settled: () => Promise.allSettled(storing) };
}

/** One field more than there are values, so that a superfluous one is seen and named. */
const limitsOf = ({ files, values }: FormShape) => ({
  fileSize: files.maxBytes,
  files: files.maxCount,
  fields: values.length + 1,
  parts: files.maxCount + values.length + 1,
  fieldSize: 1024,
  fieldNameSize: 100,
  headerPairs: 20,
  fieldNestingDepth: 0,
  fieldArrayIndexLimit: 0,
});

interface FieldInfo {
  nameTruncated: boolean;
  valueTruncated: boolean;
}

interface Watched {
  form: FormShape;
  values: Map<string, string>;
  onFault: (error: unknown) => void;
}

/** Tells at once what multer would only count, skip or report when the body has ended. */
function watch(parser: Writable, { form, values, onFault }: Watched): Writable {
  ignoreEpilogue(parser);
  return parser
    .on('field', (name: string | undefined, value: string, { nameTruncated, valueTruncated }: FieldInfo) => {
      const isRepeated = name !== undefined && values.has(name);
      const refusal = refuseValue(form, name, { nameTruncated, valueTruncated, isRepeated });
      if (refusal) onFault(refusal);
      else if (name !== undefined) values.set(name, value);
    })
    .on('file', (name: string | undefined, stream: Readable, { filename }: { filename: string | undefined }) => {
      // The parser tells the same error; without a listener the stream would throw it.
      stream.on('error', () => undefined);
      stream.on('limit', () => onFault(form.files.refuseTooLarge()));
      const refusal = refuseFile(form, name, filename);
      if (refusal) onFault(refusal);
    })
    .on('filesLimit', () => onFault(form.files.refuseTooMany()))
    .on('fieldsLimit', () => onFault(fail.requestInvalid('too_many_fields', 'The form has too many fields.')))
    .on('partsLimit', () => onFault(fail.requestInvalid('too_many_parts', 'The form has too many parts.')))
    .on('error', (error: unknown) => onFault(refusalOfParser(form, error)));
}

interface Busboy {
  _complete: boolean;
  _bparser: { _cb: (...piece: unknown[]) => void };
}

/**
 * What follows the end of a form is no part of it (RFC 2046, 5.1.1). busboy ignores it in the chunks that come later
 * and parses it in the chunk of the end, so the same bytes would be answered by how they arrived.
 */
function ignoreEpilogue(parser: Writable): void {
  const busboy = parser as unknown as Busboy;
  const search = busboy._bparser;
  const parse = search._cb;
  search._cb = (...piece) => {
    if (!busboy._complete) parse(...piece);
  };
}
