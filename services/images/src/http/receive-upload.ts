import type { IncomingMessage } from 'node:http';
import { fail } from '@vision/shared/errors';
import { guardBody } from '@vision/shared/http/body-guard';
import type { BodyLimits } from '@vision/shared/http/body-guard';
import type { SpoolSession } from '../clients/spool.ts';
import type { Admission } from '../use-cases/admit-image-call.ts';
import { parseForm } from './parse-form.ts';
import type { Upload } from './parse-form.ts';

/** @throws AppError OP-TASK-REQUEST-INVALID unless the body is multipart/form-data, not compressed. */
export function requireMultipart(req: IncomingMessage): void {
  if (!/^multipart\/form-data\s*;.*boundary="?[^\s";]/i.test(req.headers['content-type'] ?? '')) {
    throw fail.requestInvalid('content_type_invalid', 'Send the body as multipart/form-data with a boundary.', {
      field: 'Content-Type',
    });
  }
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw fail.requestInvalid('content_encoding_unsupported', 'Send the body without Content-Encoding.', {
      field: 'Content-Encoding',
    });
  }
}

export interface ReceiveOptions {
  session: SpoolSession;
  limits: BodyLimits;
  admission: Admission;
}

/**
 * Reads the whole body, or refuses it as early as its fault shows. Whether new work is taken is found out at the same time,
 * and that answer comes before any fault of the body.
 */
export async function receiveUpload(
  req: IncomingMessage,
  { session, limits, admission }: ReceiveOptions,
): Promise<Upload> {
  if (req.destroyed) throw fail.requestInvalid('body_incomplete', 'The body ended too early.');
  const guard = guardBody(req, limits);
  const form = parseForm(req, session);
  try {
    return await Promise.race([form.upload, guard.broken, admission.refused]);
  } catch (error) {
    await form.abort(error as Error);
    await admission.decided();
    throw error;
  } finally {
    guard.release();
  }
}
