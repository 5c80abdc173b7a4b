import type { IncomingMessage } from 'node:http';
import { fail } from '@vision/contracts/errors';
import { readRequestBody } from './read-body.ts';

export const MAX_JSON_BYTES = 64 * 1024;
const LIMITS = { maxBytes: MAX_JSON_BYTES, idleMs: 15_000, totalMs: 15_000 };

/**
 * Reads a JSON body: application/json (UTF-8) only, not compressed, at most 64 KiB, within 15 s.
 * @throws AppError OP-TASK-REQUEST-INVALID for everything else.
 */
export async function readJson(req: IncomingMessage): Promise<unknown> {
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json' || !parameters.every(isUtf8)) {
    throw fail.requestInvalid('content_type_invalid', 'Send the body as Content-Type: application/json.', {
      field: 'Content-Type',
    });
  }
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw fail.requestInvalid('content_encoding_unsupported', 'Send the body without Content-Encoding.', {
      field: 'Content-Encoding',
    });
  }
  return parse(await readRequestBody(req, LIMITS));
}

function isUtf8(parameter: string): boolean {
  const [name, value] = parameter.split('=').map((part) => part.trim());
  return name !== 'charset' || value === 'utf-8' || value === '"utf-8"';
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    throw Object.assign(fail.requestInvalid('json_invalid', 'The body is not valid JSON in UTF-8.'), { cause });
  }
}
