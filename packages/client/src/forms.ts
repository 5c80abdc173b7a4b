import { newKey } from './connection.ts';
import { readError } from './problem.ts';
import { queryText } from './query.ts';
import { sendWithRetries } from './retries.ts';
import { sendWithProgress, UPLOAD_LIMIT_MS } from './upload-progress.ts';
import type { Connection } from './connection.ts';
import type { QueryValues } from './query.ts';
import type { UploadProgress } from './upload-progress.ts';

export interface CreateOptions {
  /** UUID of the request. Give one to continue a request of an earlier process; by default each call has its own. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface FormRequest extends CreateOptions {
  path: string;
  query?: QueryValues;
  form: FormData;
  onProgress?: ((progress: UploadProgress) => void) | undefined;
}

/** Sends a form under one key until it is answered, and reads the answer. Each attempt encodes the form anew. */
export async function sendForm<T>(connection: Connection, request: FormRequest): Promise<T> {
  const { path, query = {}, form, idempotencyKey = newKey(), signal, onProgress } = request;
  const url = `${connection.baseUrl}${path}${queryText(query)}`;
  const headers = { authorization: connection.authorization, 'idempotency-key': idempotencyKey };
  const send = () =>
    onProgress
      ? sendWithProgress(connection, { url, headers, form, signal, onProgress })
      : connection.attempt(
          new Request(url, { method: 'POST', headers, body: form, ...(signal ? { signal } : {}) }),
          UPLOAD_LIMIT_MS,
        );
  const response = await sendWithRetries(send, { maxMs: connection.maxRetryMs, signal });
  if (!response.ok) throw await readError(response);
  return (await response.json()) as T;
}
