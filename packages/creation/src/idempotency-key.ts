import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { uuidForm } from '@vision/contracts/ids';
import { fail, refusalOf } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';

/** Documents the header. */
export const idempotencyHeaders = z.object({
  'Idempotency-Key': uuidForm.meta({
    description:
      'A UUID that you generate for each new request. Repeating the same request with the same key returns the ' +
      'original result; a different request with the same key is rejected.',
    example: '8f14e45f-ceea-467f-9d0a-2c1b6e0f7a31',
  }),
});

export interface IdempotencyKey {
  /** Lower-case form used for comparison. */
  key: string;
  /** As the client sent it; echoed as `request_id`. */
  sent: string;
}

/**
 * The Idempotency-Key header: exactly one, 8-4-4-4-12 hexadecimal digits, any UUID version.
 * @throws AppError OP-TASK-REQUEST-INVALID `idempotency_key_missing` | `idempotency_key_invalid`.
 */
export function readIdempotencyKey(req: Pick<IncomingMessage, 'rawHeaders'>): IdempotencyKey {
  const values: string[] = [];
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    if (req.rawHeaders[index]?.toLowerCase() === 'idempotency-key') values.push(req.rawHeaders[index + 1] ?? '');
  }
  const field = { field: 'Idempotency-Key' };
  if (values.length === 0) {
    throw fail.requestInvalid(
      'idempotency_key_missing',
      'Send an Idempotency-Key header with a UUID of your own.',
      field,
    );
  }
  const sent = values[0] ?? '';
  const parsed = uuidForm.safeParse(sent);
  if (values.length > 1 || !parsed.success) {
    throw fail.requestInvalid('idempotency_key_invalid', 'Send one Idempotency-Key in UUID form (8-4-4-4-12).', field);
  }
  return { key: parsed.data, sent };
}

/** One of each refusal of the header. */
export function idempotencyKeyRefusals(): AppError[] {
  const headers = [[], ['Idempotency-Key', 'order-4711']];
  return headers.map((rawHeaders) => refusalOf(() => readIdempotencyKey({ rawHeaders })));
}
