import { z } from 'zod';

/**
 * The form of an id that a caller chose or typed: 8-4-4-4-12 hexadecimal digits of any UUID version and variant, in the
 * lower-case form that it is compared by. This one rule holds from the gateway to the ledger.
 */
export const uuidForm = z.guid().toLowerCase();

/** The smallest id that can be made at this instant: a UUIDv7 begins with milliseconds (RFC 9562, section 5.7). */
export function firstIdAt(instant: Date): string {
  const hex = instant.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** Path parameters of everything about one task. */
export const taskPath = z.object({ task_id: uuidForm });
