import { asAppError, fail } from '@vision/shared/errors';
import type { AppError } from '@vision/shared/errors';
import { MAX_IMAGE_BYTES, MAX_IMAGES } from '../domain/upload-rules.ts';

const FILE_FIELD = 'files';
const VALUE_FIELD = 'scene_code';

export const refuseCount = (): AppError =>
  fail.requestInvalid('image_count_out_of_range', `Send 1 to ${MAX_IMAGES} images in the field "${FILE_FIELD}".`, {
    field: FILE_FIELD,
  });

export const refuseSize = (): AppError =>
  fail.requestInvalid('image_too_large', `An image is larger than ${MAX_IMAGE_BYTES} bytes.`, { field: FILE_FIELD });

export const refuseType = (): AppError =>
  fail.requestInvalid('image_type_unsupported', 'Send images as JPEG, PNG or WEBP, and declare them as such.', {
    field: FILE_FIELD,
  });

/** Whether a value may stand in the form; the refusal when not. */
export function refuseField(
  name: string | undefined,
  { nameTruncated, valueTruncated, repeated }: { nameTruncated: boolean; valueTruncated: boolean; repeated: boolean },
): AppError | undefined {
  if (name !== VALUE_FIELD || nameTruncated) return unknownField(name);
  if (repeated) return fail.requestInvalid('field_repeated', 'scene_code was sent twice.', { field: VALUE_FIELD });
  if (valueTruncated) return fail.requestInvalid('field_too_long', 'scene_code is too long.', { field: VALUE_FIELD });
  return undefined;
}

/** Whether a file may stand in the form; the refusal when not. */
export function refusePart(name: string | undefined, filename: string | undefined): AppError | undefined {
  if (name !== FILE_FIELD) return unknownField(name);
  if (filename) return undefined;
  return fail.requestInvalid('file_name_missing', 'A file without a file name was sent.', { field: FILE_FIELD });
}

/** The refusal for what the parser found wrong. */
export function formRefusal(error: unknown): AppError {
  const known = asAppError(error);
  if (known) return known;
  const { code, field } = error as { code?: unknown; field?: string };
  if (code === 'LIMIT_FILE_SIZE') return refuseSize();
  if (code === 'LIMIT_FILE_COUNT') return refuseCount();
  if (code === 'LIMIT_UNEXPECTED_FILE') return field === FILE_FIELD ? refuseCount() : unknownField(field);
  if (typeof code === 'string' && code.startsWith('LIMIT_FIELD')) return unknownField(field);
  return Object.assign(fail.requestInvalid('multipart_malformed', 'The body is not a complete multipart form.'), {
    cause: error,
  });
}

function unknownField(name: string | undefined): AppError {
  return fail.requestInvalid('unknown_field', `Only "${FILE_FIELD}" and "${VALUE_FIELD}" are accepted.`, {
    field: (name ?? '').slice(0, 100),
  });
}
