import type { IncomingMessage } from 'node:http';
import { fail } from '@vision/contracts/errors';
import { guardBody } from '@vision/shared/http/body-guard';
import type { Form, ReceivedForm } from './form.ts';
import { parseForm } from './parse-form.ts';

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

/**
 * Reads a whole form and stores its files while they arrive; a store that is slow slows the client down. Refuses as
 * early as a fault shows, while the rest of the body may still be on its way, and has stopped storing when it rejects.
 * @param signal gives the reading up; its reason is thrown.
 * @throws AppError OP-TASK-REQUEST-INVALID, and what `store` of the form throws.
 */
export async function readForm<File, Value extends string>(
  req: IncomingMessage,
  form: Form<File, Value>,
  signal?: AbortSignal,
): Promise<ReceivedForm<File, Value>> {
  signal?.throwIfAborted();
  if (req.destroyed) throw fail.requestInvalid('body_incomplete', 'The body ended too early.');
  const guard = guardBody(req, form.limits);
  const outcome = Promise.withResolvers<ReceivedForm<File, Value>>();
  const storing = new AbortController();
  const giveUp = () => outcome.reject(signal?.reason);
  guard.broken.catch(outcome.reject);
  signal?.addEventListener('abort', giveUp, { once: true });
  const events = { onReceived: outcome.resolve, onFault: outcome.reject };
  const parser = parseForm(req, form, events, storing.signal);
  try {
    return await outcome.promise;
  } catch (error) {
    storing.abort(error);
    await parser.stop(error as Error);
    throw error;
  } finally {
    guard.release();
    signal?.removeEventListener('abort', giveUp);
  }
}
