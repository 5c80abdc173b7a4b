import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

export interface ScriptedService {
  url: string;
  received: Received[];
  stop: () => Promise<void>;
}

export type Reply = (res: ServerResponse, received: Received) => void;

/** A service on a port of its own that gives these replies in turn, the last one again and again. */
export async function startScriptedService(...replies: Reply[]): Promise<ScriptedService> {
  const received: Received[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('error', () => undefined);
    req.on('end', () => {
      const { method = '', url = '', headers } = req;
      const request = { method, url, headers, body: Buffer.concat(chunks) };
      received.push(request);
      (replies[received.length - 1] ?? replies.at(-1))?.(res, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const json =
  (status: number, body: object, headers: Record<string, string> = {}): Reply =>
  (res) =>
    void res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

export const problem = (
  status: number,
  reason: string,
  facts: { retryAfter?: string; retryable?: boolean; limit?: string } = {},
) => {
  const { retryAfter, retryable = true, limit } = facts;
  const details = { reason, ...(limit === undefined ? {} : { limit }) };
  const body = {
    type: `urn:vision:problem:${reason}`,
    title: 't',
    status,
    detail: 'd',
    instance: 'i',
    details,
    trace_id: 't',
    retryable,
  };
  return json(status, body, retryAfter === undefined ? {} : { 'retry-after': retryAfter });
};

/** The connection breaks before the head. */
export const broken: Reply = (res) => void res.destroy();

/** The connection breaks in the body. */
export const brokenBody: Reply = (res) => {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  res.write('{"task_id":', () => res.destroy());
};

/** Server-sent events; the answer ends behind them, or breaks. */
export const events =
  (text: string, { breaks = false } = {}): Reply =>
  (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(text, () => (breaks ? res.destroy() : res.end()));
  };

export const frameEvent = (seq: number) => `event: frame\nid: c${seq}\ndata: {"frame_id":"t-${seq}"}\n\n`;
export const endEvent = 'event: end\nid: e\ndata: {"status":"succeeded"}\n\n';
