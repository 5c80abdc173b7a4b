/** Takes spans by OTLP (JSON over HTTP) and hands them to Zipkin. Started by `make up OBSERVE=1`. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { toZipkin } from './to-zipkin.ts';
import type { OtlpTraces } from './to-zipkin.ts';

const [port = '', zipkin = ''] = process.argv.slice(2);

const server = createServer((req, res) => {
  pass(req, res).catch((error: unknown) => {
    console.error(error);
    // The sender keeps what is refused like this and sends it again.
    res.writeHead(503).end();
  });
});

// Only services of this copy know the port; it listens on the loopback address only.
server.listen(Number(port), '127.0.0.1');
process.once('SIGTERM', () => server.close());

async function pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.method !== 'POST' || req.url !== '/v1/traces') {
    res.writeHead(req.url === '/health' ? 200 : 404).end();
    return;
  }
  const spans = toZipkin((await json(req)) as OtlpTraces, `${zipkin}/zipkin`);
  const { status } = await fetch(`${zipkin}/api/v2/spans`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(spans),
  });
  res.writeHead(status < 300 ? 200 : 503, { 'content-type': 'application/json' }).end('{}');
}
