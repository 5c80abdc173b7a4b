import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A received webhook. */
export interface Received {
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Answering = (res: ServerResponse, received: Received, count: number) => void;

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** Sets the response from now on; 204 at first. */
  answer: (answering: Answering) => void;
  close: () => Promise<void>;
}

export const status =
  (code: number, headers: Record<string, string> = {}): Answering =>
  (res) =>
    res.writeHead(code, headers).end();

/** A failed attempt whose next one is not made during a test. */
export const refuse: Answering = status(503, { 'retry-after': '600' });

/** A real server on loopback that responds as a test requires; over TLS with a certificate. */
export async function startReceiver(tls?: { cert: string; key: string }): Promise<Receiver> {
  const received: Received[] = [];
  let answering: Answering = status(204);
  const listener: RequestListener = (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const one = { path: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks).toString() };
      received.push(one);
      answering(res, one, received.length);
    });
  };
  const files = tls && { cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
  const server = files ? createTlsServer(files, listener) : createServer(listener);
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${files ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    received,
    answer: (next) => {
      answering = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
