import { MAX_IMAGES } from '@vision/contracts/images';
import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import type { Form } from '@vision/creation/multipart/form';
import type { SpoolSession } from '../clients/spool.ts';
import { MAX_BODY_BYTES, MAX_IMAGE_BYTES } from '../domain/upload-rules.ts';
import type { Settings } from '../use-cases/deps.ts';
import type { ReceivedImage } from '../use-cases/process-image.ts';
import { receiveImage, refuseType } from './receive-image.ts';

const field = 'files';

/** The form of an image call: `files` 1 to 10 times and `scene_code` at most once. */
export function imageForm(
  session: SpoolSession,
  { bodyIdleMs, bodyTotalMs }: Pick<Settings, 'bodyIdleMs' | 'bodyTotalMs'>,
): Form<ReceivedImage, 'scene_code'> {
  return {
    files: {
      field,
      maxCount: MAX_IMAGES,
      maxBytes: MAX_IMAGE_BYTES,
      store: (file) => receiveImage(file, session),
      refuseNone: refuseCount,
      refuseTooMany: refuseCount,
      refuseTooLarge: refuseSize,
    },
    values: ['scene_code'],
    limits: { maxBytes: MAX_BODY_BYTES, idleMs: bodyIdleMs, totalMs: bodyTotalMs },
  };
}

/** An example of each refusal that this form defines. */
export const imageFormRefusals = (): AppError[] => [refuseCount(), refuseSize(), refuseType()];

function refuseSize(): AppError {
  return fail.requestInvalid('image_too_large', `An image is larger than ${MAX_IMAGE_BYTES} bytes.`, { field });
}

function refuseCount(): AppError {
  const message = `Send 1 to ${MAX_IMAGES} images in the field "${field}".`;
  return fail.requestInvalid('image_count_out_of_range', message, { field });
}
