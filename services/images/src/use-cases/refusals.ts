import { fail } from '@vision/shared/errors';
import type { AppError } from '@vision/shared/errors';

/** The key names a request with another meaning, or of the other kind. */
export function keyReused(): AppError {
  return fail.requestInvalid(
    'idempotency_key_reused',
    'This Idempotency-Key was used for another request; send a new key for a new request.',
    { field: 'Idempotency-Key' },
  );
}

export interface QuotaState {
  limit: number;
  used: number;
  requested: number;
  resets_at: string;
}

/** The day does not cover the request; a retry makes sense when the next one begins. */
export function exhausted({ limit, used, requested, resets_at }: QuotaState): AppError {
  const seconds = Math.ceil((Date.parse(resets_at) - Date.now()) / 1000);
  return fail.dailyExhausted({ limit, used, requested, resets_at }, Math.max(1, seconds));
}
