import type { IncomingMessage } from 'node:http';
import { fail } from '../errors.ts';

const MAX_JSON_BYTES = 64 * 1024;
const READ_DEADLINE_MS = 15_000;

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
  return parse(await readBytes(req));
}

function isUtf8(parameter: string): boolean {
  const [name, value] = parameter.split('=').map((part) => part.trim());
  return name !== 'charset' || value === 'utf-8' || value === '"utf-8"';
}

function readBytes(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => {
      finish(() => reject(fail.requestInvalid('body_too_slow', 'The body did not arrive in time.')));
    }, READ_DEADLINE_MS);
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      settle();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_JSON_BYTES) {
        finish(() => reject(fail.requestInvalid('body_too_large', 'The JSON body is larger than 64 KiB.')));
      }
    };
    const onEnd = () => finish(() => resolve(Buffer.concat(chunks)));
    const onBroken = () => finish(() => reject(fail.requestInvalid('body_incomplete', 'The body ended too early.')));
    req.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    throw Object.assign(fail.requestInvalid('json_invalid', 'The body is not valid JSON in UTF-8.'), { cause });
  }
}
