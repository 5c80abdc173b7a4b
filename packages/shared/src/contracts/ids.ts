import { z } from 'zod';

/**
 * The form of an id that a caller chose or typed: 8-4-4-4-12 hexadecimal digits of any UUID version and variant, in the
 * lower-case form that it is compared by. This one rule holds from the gateway to the ledger.
 */
export const uuidForm = z.guid().toLowerCase();

/** Path parameters of everything about one task. */
export const taskPath = z.object({ task_id: uuidForm });
