import type { Readable } from 'node:stream';
import { asAppError, fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import type { BodyLimits } from '@vision/shared/http/body-guard';

/** A file of a form while it arrives. */
export interface IncomingFile {
  stream: Readable;
  /** Content-Type of its part, as the client declared it. */
  declaredType: string;
}

/** Describes a multipart form: files in one field, some text values, in any order, and nothing else. */
export interface Form<File, Value extends string> {
  files: {
    field: string;
    maxCount: number;
    maxBytes: number;
    /**
     * Stores one file while it arrives. An AppError that it throws refuses the form. `signal` is aborted when the form
     * is refused for another reason; the refusal is answered after `store` has settled.
     */
    store: (file: IncomingFile, signal: AbortSignal) => Promise<File>;
    refuseNone: () => AppError;
    refuseTooMany: () => AppError;
    refuseTooLarge: () => AppError;
  };
  /** Names of the text values; each may be sent once or be left out. */
  values: readonly Value[];
  limits: BodyLimits;
}

export interface ReceivedForm<File, Value extends string> {
  /** In the order in which they were sent. */
  files: File[];
  values: ReadonlyMap<Value, string>;
}

/** What a form accepts, as far as refusals depend on it. */
export type FormShape = Pick<Form<unknown, string>, 'files' | 'values'>;

export interface ValueFacts {
  nameTruncated: boolean;
  valueTruncated: boolean;
  isRepeated: boolean;
}

/** Whether a value may stand in the form; the refusal when not. */
export function refuseValue(form: FormShape, name: string | undefined, facts: ValueFacts): AppError | undefined {
  if (name === undefined || !form.values.includes(name) || facts.nameTruncated) return unknownField(form, name);
  if (facts.isRepeated) return fail.requestInvalid('field_repeated', `${name} was sent twice.`, { field: name });
  if (facts.valueTruncated) return fail.requestInvalid('field_too_long', `${name} is too long.`, { field: name });
  return undefined;
}

/** Whether a file may stand in the form; the refusal when not. */
export function refuseFile(
  form: FormShape,
  name: string | undefined,
  filename: string | undefined,
): AppError | undefined {
  const { field } = form.files;
  if (name !== field) return unknownField(form, name);
  if (filename) return undefined;
  return fail.requestInvalid('file_name_missing', 'Send each file with a file name.', { field });
}

/** The refusal for what the parser found wrong. */
export function refusalOfParser(form: FormShape, error: unknown): AppError {
  const known = asAppError(error);
  if (known) return known;
  const { code, field } = error as { code?: unknown; field?: string };
  if (code === 'LIMIT_FILE_SIZE') return form.files.refuseTooLarge();
  if (code === 'LIMIT_FILE_COUNT') return form.files.refuseTooMany();
  if (code === 'LIMIT_UNEXPECTED_FILE') {
    return field === form.files.field ? form.files.refuseTooMany() : unknownField(form, field);
  }
  if (typeof code === 'string' && code.startsWith('LIMIT_FIELD')) return unknownField(form, field);
  return Object.assign(fail.requestInvalid('multipart_malformed', 'The body is not a complete multipart form.'), {
    cause: error,
  });
}

function unknownField(form: FormShape, name = ''): AppError {
  return fail.requestInvalid('unknown_field', adviceOnField(form, name), { field: name.slice(0, 100) });
}

function adviceOnField({ files, values }: FormShape, name: string): string {
  if (name === files.field) return `Send "${name}" as a file, with a file name.`;
  if (values.includes(name)) return `Send "${name}" as a value, without a file name.`;
  return `Only ${[files.field, ...values].map((field) => `"${field}"`).join(' and ')} are accepted.`;
}
