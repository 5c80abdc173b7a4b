import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { fail } from '@vision/shared/errors';
import { toProblem } from '@vision/shared/http/problem';
import { newTraceId } from '@vision/shared/http/request-id';
import { createHttpServer } from '@vision/shared/http/server';
import type { HttpServer } from '@vision/shared/http/server';

/** The public listener. Input that is not HTTP, or that expects something unsupported, also gets a problem document. */
export function createPublicServer(listener: RequestListener, address: { host: string; port: number }): HttpServer {
  const http = createHttpServer(listener, { ...address, requireHostHeader: false });
  http.server.on('checkExpectation', listener);
  http.server.on('clientError', (_error, socket) => refuse(socket));
  return http;
}

function refuse(socket: Duplex & { bytesWritten?: number }): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const ids = { requestId: randomUUID(), traceId: newTraceId() };
  const error = fail.requestInvalid(
    'request_malformed',
    'The request is not valid HTTP, or its headers are too large.',
  );
  const body = JSON.stringify(toProblem(error, ids));
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Connection: close',
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${ids.requestId}`,
      `X-Trace-Id: ${ids.traceId}`,
      '',
      body,
    ].join('\r\n'),
  );
}
