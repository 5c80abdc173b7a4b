import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { Socket } from 'node:net';
import { fail } from '@vision/contracts/errors';
import { toProblem } from '@vision/shared/http/problem';
import { newTraceId } from '@vision/shared/http/request-id';

/** Input that is not HTTP, or that expects something unsupported, also gets a problem document. */
export function answerMalformed(server: Server): void {
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('clientError', (_error, socket) => {
    if (socket instanceof Socket) refuse(socket);
  });
}

const FAREWELL_MS = 2000;

function refuse(socket: Socket): void {
  if (!socket.writable) {
    socket.resetAndDestroy();
    return;
  }
  const ids = { requestId: randomUUID(), traceId: newTraceId() };
  const error = fail.requestInvalid(
    'request_malformed',
    'The request is not valid HTTP, or its headers are too large.',
  );
  const body = JSON.stringify(toProblem(error, ids));
  // A client that never closes its side must not keep the gateway's side open, nor unread bytes of earlier responses.
  const cut = setTimeout(() => socket.resetAndDestroy(), FAREWELL_MS);
  socket.once('close', () => clearTimeout(cut));
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Connection: close',
      'Content-Type: application/problem+json',
      'X-Content-Type-Options: nosniff',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${ids.requestId}`,
      `X-Trace-Id: ${ids.traceId}`,
      '',
      body,
    ].join('\r\n'),
  );
}
