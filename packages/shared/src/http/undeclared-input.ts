import type { IncomingMessage } from 'node:http';
import { fail } from '@vision/contracts/errors';
import type { AppError } from '@vision/contracts/errors';
import { readRequestBody } from './read-body.ts';

/** Longest body that is read to name the field at fault. */
const LIMITS = { maxBytes: 64 * 1024, idleMs: 15_000, totalMs: 15_000 };

/**
 * Refuses every query parameter of an operation that has none.
 * @throws AppError OP-TASK-REQUEST-INVALID `unknown_field`.
 */
export function refuseQuery(query: Record<string, unknown>): void {
  const [name] = Object.keys(query);
  if (name !== undefined) throw unknownField('This operation takes no query parameters.', name);
}

/**
 * Refuses a body for an operation that takes none. An empty JSON object holds no field and is accepted: HTTP clients
 * send one on their own.
 * @throws AppError OP-TASK-REQUEST-INVALID `unknown_field` or `body_invalid`, and those of the limits of a body.
 */
export async function refuseBody(req: IncomingMessage): Promise<void> {
  if (req.headers['transfer-encoding'] === undefined && !Number(req.headers['content-length'])) return;
  const text = (await readRequestBody(req, LIMITS)).toString();
  if (text.trim() === '') return;
  const [name] = fieldsOf(text);
  if (name !== undefined) throw unknownField('This operation takes no body.', name);
}

function fieldsOf(text: string): string[] {
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return Object.keys(json);
  } catch {
    // Refused below, like every other body that is no JSON object.
  }
  throw fail.requestInvalid('body_invalid', 'This operation takes no body.');
}

function unknownField(message: string, name: string): AppError {
  return fail.requestInvalid('unknown_field', message, { field: name.slice(0, 200) });
}
