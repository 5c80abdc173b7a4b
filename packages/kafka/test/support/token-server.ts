import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { MadeCertificates } from '@vision/shared/testing/made-certificates';

export interface TokenRequest {
  authorization: string | undefined;
  form: Record<string, string>;
}

export interface TokenServer {
  url: string;
  requests: TokenRequest[];
  /** What it does with a request. */
  answer: (res: ServerResponse) => void;
  /** Ends it and every connection. */
  stop: () => void;
}

/** A token server over TLS on loopback that answers as a test wants. */
export async function startTokenServer(certificates: MadeCertificates): Promise<TokenServer> {
  const tls = { cert: readFileSync(certificates.server.cert), key: readFileSync(certificates.server.key) };
  const server = createServer(tls, (req, res) => {
    void text(req).then((body) => {
      const form = Object.fromEntries(new URLSearchParams(body));
      running.requests.push({ authorization: req.headers.authorization, form });
      running.answer(res);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const running: TokenServer = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/oauth2/token`,
    requests: [],
    answer: (res) => res.writeHead(503).end(),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return running;
}

/** An answer with JSON, or with a text that is none. */
export const replyWith =
  (status: number, body: unknown) =>
  (res: ServerResponse): void => {
    res.writeHead(status, { 'Content-Type': 'application/json', Location: 'https://elsewhere.example/' });
    res.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

/** A token without signature, as a broker without a handler of its own takes it. */
export function unsignedToken(lifeMs: number, id = 'token'): string {
  const now = Date.now() / 1_000;
  return `${encoded({ alg: 'none' })}.${encoded({ sub: 'vision', iat: now, exp: now + lifeMs / 1_000, id })}.`;
}
