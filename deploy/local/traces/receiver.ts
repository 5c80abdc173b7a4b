/**
 * `node receiver.ts <port> <Zipkin address>`: takes spans as the services export them (OTLP over HTTP, protobuf) and
 * hands them to Zipkin, whose own OTLP module is not published in Maven Central.
 */
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { toZipkin } from './to-zipkin.ts';
import type { ExportRequest } from './to-zipkin.ts';

const [port = '', zipkin = ''] = process.argv.slice(2);
const schema = await protobuf.load(join(import.meta.dirname, 'otlp.proto'));
const requestType = schema.lookupType('ExportTraceServiceRequest');

const server = createServer((request, response) => {
  if (request.method !== 'POST' || request.url !== '/v1/traces') {
    response.writeHead(request.url === '/health' ? 200 : 404).end();
    return;
  }
  receive(request).then(
    () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(),
    (error: unknown) => {
      console.error(error);
      response.writeHead(503).end();
    },
  );
});
server.listen(Number(port), '127.0.0.1');
process.once('SIGTERM', () => server.close());

async function receive(request: IncomingMessage): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const message = requestType.toObject(requestType.decode(Buffer.concat(chunks)), { longs: String }) as ExportRequest;
  const answer = await fetch(`${zipkin}/api/v2/spans`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(toZipkin(message)),
    signal: AbortSignal.timeout(10_000),
  });
  if (!answer.ok) throw new Error(`Zipkin answered ${answer.status}: ${await answer.text()}`);
}
