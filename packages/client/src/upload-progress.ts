import { newKey } from './connection.ts';
import type { Connection } from './connection.ts';

/** Progress of an upload; starts again at 0 when the request is repeated. */
export interface UploadProgress {
  sentBytes: number;
  totalBytes: number;
}

export interface Upload {
  url: string;
  headers: Record<string, string>;
  form: FormData;
  signal: AbortSignal | undefined;
  onProgress: (progress: UploadProgress) => void;
}

/** Longer than the service lets an upload take. */
export const UPLOAD_LIMIT_MS = 3_600_000;

/** One attempt that reports its progress: by XMLHttpRequest in browsers, whose `fetch` has none; else by `fetch`. */
export function sendWithProgress(connection: Connection, upload: Upload): Promise<Response> {
  const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => Xhr };
  return XMLHttpRequest ? sendByXhr(new XMLHttpRequest(), upload) : sendCounted(connection, upload);
}

/** The part of XMLHttpRequest that is used here; Node.js has no types for it. */
interface Xhr {
  upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  ontimeout: (() => void) | null;
  timeout: number;
  responseType: string;
  readonly status: number;
  readonly statusText: string;
  readonly response: unknown;
  open: (method: string, url: string) => void;
  setRequestHeader: (name: string, value: string) => void;
  getAllResponseHeaders: () => string;
  send: (body: FormData) => void;
  abort: () => void;
}

function sendByXhr(xhr: Xhr, { url, headers, form, signal, onProgress }: Upload): Promise<Response> {
  return new Promise<Response>((resolve, reject) => {
    signal?.throwIfAborted();
    xhr.open('POST', url);
    xhr.responseType = 'text';
    xhr.timeout = UPLOAD_LIMIT_MS;
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = ({ loaded, total }) => onProgress({ sentBytes: loaded, totalBytes: total });
    xhr.onload = () => resolve(responseOf(xhr));
    xhr.onerror = () => reject(new TypeError('the upload failed'));
    xhr.ontimeout = () => reject(new DOMException('the service did not answer in time', 'TimeoutError'));
    xhr.onabort = () => reject(signal?.reason as Error);
    signal?.addEventListener('abort', () => xhr.abort(), { once: true });
    xhr.send(form);
  });
}

function responseOf(xhr: Xhr): Response {
  const lines = xhr.getAllResponseHeaders().trim().split(/\r?\n/);
  const headers = lines
    .filter((line) => line.includes(':'))
    .map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
  return new Response(xhr.response as string, { status: xhr.status, statusText: xhr.statusText, headers });
}

/** Sends the form as a stream that is counted as the connection takes it. */
function sendCounted(connection: Connection, { url, headers, form, signal, onProgress }: Upload): Promise<Response> {
  const boundary = `vision-${newKey()}`;
  const parts = partsOf(form, boundary);
  const totalBytes = parts.reduce((sum, part) => sum + part.size, 0);
  let sentBytes = 0;
  const counted = bytesOf(parts, (bytes) => {
    sentBytes += bytes;
    onProgress({ sentBytes, totalBytes });
  });
  const init = {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(totalBytes),
    },
    body: toStream(counted),
    duplex: 'half' as const,
    ...(signal ? { signal } : {}),
  };
  return connection.attempt(new Request(url, init), UPLOAD_LIMIT_MS);
}

function partsOf(form: FormData, boundary: string): Blob[] {
  const parts: Blob[] = [];
  for (const [name, value] of form as Iterable<[string, string | File]>) {
    const isText = typeof value === 'string';
    const disposition = `content-disposition: form-data; name="${escaped(name)}"`;
    const rest = isText
      ? ''
      : `; filename="${escaped(value.name)}"\r\ncontent-type: ${value.type || 'application/octet-stream'}`;
    parts.push(new Blob([`--${boundary}\r\n${disposition}${rest}\r\n\r\n`]), isText ? new Blob([value]) : value);
    parts.push(new Blob(['\r\n']));
  }
  return [...parts, new Blob([`--${boundary}--\r\n`])];
}

/** As browsers write names into the head of a part. */
const escaped = (name: string) => name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

async function* bytesOf(parts: Blob[], onBytes: (bytes: number) => void): AsyncGenerator<Uint8Array, void> {
  for (const part of parts) {
    const reader = (part.stream() as ReadableStream<Uint8Array>).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
      onBytes(value.byteLength);
    }
  }
}

/** Pulled piece by piece, so that nothing is read before the connection takes it. */
const toStream = (bytes: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await bytes.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await bytes.return();
      },
    },
    { highWaterMark: 0 },
  );
