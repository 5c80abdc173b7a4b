/**
 * An inference backend, as a process of its own, that takes jobs and does not answer as it should: before the head of
 * its answer, or in the middle of its body. It hears over IPC which of them.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Lateness = 'headers' | 'body';

const places = { stream: 10, object: 10 };

let lateness: Lateness = 'headers';
process.on('message', (next: Lateness) => {
  lateness = next;
  process.send?.({ lateness });
});
process.once('disconnect', () => process.exit(0));

const server = createServer((req, res) => {
  req.resume();
  req.once('end', () => answer(req, res));
});

function answer(req: IncomingMessage, res: ServerResponse): void {
  // Every call connects anew, so that a call can find nobody who takes its connection.
  res.setHeader('Connection', 'close');
  res.setHeader('Content-Type', 'application/json');
  if (req.url === '/v1/capacity') res.end(JSON.stringify({ free: places, places }));
  else if (req.method !== 'POST') res.end('{"jobs":[]}');
  else if (lateness === 'body') res.writeHead(201, { 'Content-Length': '300' }).write('{"job_id":');
}

// One connection may wait to be taken; when the process is frozen, the next ones get no answer at all.
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
