import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  method: string;
  url: string;
  rawHeaders: string[];
  /** Bytes of the body that arrived so far. */
  bytes: number;
  body: string;
  isComplete: boolean;
  /** The connection ended before the answer did. */
  isCut: boolean;
}

export interface Upstream {
  url: string;
  seen: Seen[];
  last: () => Seen;
  /** Answers from now on; by default 200 with a small JSON body once the request is complete. */
  answer: (req: IncomingMessage, res: ServerResponse) => void;
  /** Whether a request with `Expect: 100-continue` gets its go-ahead; else it is refused with 400. */
  goesAhead: () => boolean;
  /** Answers requests that the gateway makes for itself; they are not recorded. */
  answerOwn: (req: IncomingMessage, res: ServerResponse) => void;
  reset: () => void;
  close: () => Promise<void>;
}

/** A real server in place of the services behind the gateway; records the requests that reach it. */
export async function startUpstream(): Promise<Upstream> {
  const usual: Upstream['answer'] = (req, res) => {
    req.on('end', () => {
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    });
  };
  const server = createServer((req, res) => {
    if (isOwnQuestion(req)) {
      upstream.answerOwn(req, res);
      return;
    }
    upstream.seen.push(note(req, res));
    upstream.answer(req, res);
  });
  server.on('checkContinue', (req, res) => {
    if (!upstream.goesAhead()) {
      res.writeHead(400, { 'content-length': 9 }).end('no thanks');
      return;
    }
    res.writeContinue();
    server.emit('request', req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const upstream: Upstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: [],
    last: () => {
      const last = upstream.seen.at(-1);
      if (!last) throw new Error('nothing reached the service');
      return last;
    },
    answer: usual,
    goesAhead: () => true,
    answerOwn: (_req, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[]}'),
    reset: () => {
      upstream.seen.length = 0;
      upstream.answer = usual;
      upstream.goesAhead = () => true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return upstream;
}

const isOwnQuestion = ({ url = '' }: IncomingMessage) => url.startsWith('/internal/v1/webhook-keys');

function note(req: IncomingMessage, res: ServerResponse): Seen {
  const { method = '', url = '', rawHeaders } = req;
  const seen: Seen = { method, url, rawHeaders, bytes: 0, body: '', isComplete: false, isCut: false };
  req.on('data', (chunk: Buffer) => {
    seen.bytes += chunk.length;
    if (seen.bytes < 10_000) seen.body += chunk.toString();
  });
  req.on('end', () => {
    seen.isComplete = true;
  });
  req.on('error', () => undefined);
  res.on('close', () => {
    seen.isCut = !res.writableFinished;
  });
  return seen;
}

/** All values of a header, as they were sent. */
export function valuesOf(rawHeaders: string[], name: string): string[] {
  return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}
