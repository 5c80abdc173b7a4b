import { randomBytes } from 'node:crypto';
import { fail } from '@vision/contracts/errors';

const PREFIX = 'whsec_';
const MADE_BYTES = 32;
/** Standard Webhooks 1.0 requires 24 to 64 bytes. */
const SECRET_BYTES = { least: 24, most: 64 } as const;

/** A new random secret in the form of Standard Webhooks. */
export const newWebhookSecret = (): string => PREFIX + randomBytes(MADE_BYTES).toString('base64');

/**
 * Validates a secret that a caller chose. Exactly one text is accepted for each secret.
 * @throws AppError OP-TASK-REQUEST-INVALID `secret_invalid`; the message contains no part of it.
 */
export function checkWebhookSecret(text: string): string {
  const base64 = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
  const bytes = Buffer.from(base64, 'base64');
  const isCanonical = bytes.toString('base64') === base64;
  if (isCanonical && bytes.length >= SECRET_BYTES.least && bytes.length <= SECRET_BYTES.most) return text;
  throw fail.requestInvalid(
    'secret_invalid',
    `secret: send whsec_ and ${SECRET_BYTES.least} to ${SECRET_BYTES.most} random bytes in base64.`,
    { field: 'secret' },
  );
}
