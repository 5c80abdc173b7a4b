/**
 * Receivers of webhooks, in a thread of their own: what they take must not hold up the process that sends or measures.
 * One server listens on all loopback addresses, each of which is a host of its own for the sender.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { HANG_PATH } from './receiver-addresses.ts';

/** A webhook as it arrived: when, on the clock of the machine, and about which task. */
export interface Arrival {
  atMs: number;
  taskId: string;
}

/** What arrived since the last question, and how many requests wait for an answer that never comes. */
export interface Seen {
  arrivals: Arrival[];
  hanging: number;
}

const arrivals: Arrival[] = [];
let hanging = 0;

const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    if (req.url === HANG_PATH) {
      hanging += 1;
      res.on('close', () => (hanging -= 1));
      return;
    }
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { task: { task_id: string } } };
    arrivals.push({ atMs: Date.now(), taskId: data.task.task_id });
    res.writeHead(204).end();
  });
});
parentPort?.on('message', () => {
  parentPort?.postMessage({ arrivals: arrivals.splice(0), hanging } satisfies Seen);
});
server.listen(0, '0.0.0.0');
await once(server, 'listening');
parentPort?.postMessage((server.address() as AddressInfo).port);
