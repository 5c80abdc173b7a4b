import { expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { call } from './call.ts';
import { askEveryReplica } from './replicas.ts';

const listen = (server: Server, port: number, host: string) =>
  new Promise<number>((resolve) => {
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });

test('every address of a name is asked by the name, and one that does not answer is listed with its reason', async () => {
  const servers = ['one', 'two'].map((name) =>
    createServer((req, res) => res.end(JSON.stringify({ name, host: req.headers.host }))),
  );
  const [first, second] = servers as [Server, Server];
  const port = await listen(first, 0, '127.0.0.1');
  await listen(second, port, '127.0.0.2');
  const url = `http://tasks.internal:${port}`;
  const told = await askEveryReplica(
    url,
    async (dispatcher) =>
      (await call({ upstream: 'tasks', operation: 'status', method: 'GET', url, timeoutMs: 5_000, dispatcher })).body,
    async () => ['127.0.0.1', '127.0.0.2', '127.0.0.3'],
  );
  servers.forEach((server) => server.close());
  expect(told).toEqual([
    { address: '127.0.0.1', answer: { name: 'one', host: `tasks.internal:${port}` } },
    { address: '127.0.0.2', answer: { name: 'two', host: `tasks.internal:${port}` } },
    { address: '127.0.0.3', fault: expect.stringContaining(`connect ECONNREFUSED 127.0.0.3:${port}`) },
  ]);
});

test('an unknown name is reported as such', async () => {
  const told = await askEveryReplica(
    'http://tasks.invalid',
    async () => 'never',
    () => Promise.reject(new Error('getaddrinfo ENOTFOUND tasks.invalid')),
  );
  expect(told).toEqual([{ address: 'tasks.invalid', fault: 'getaddrinfo ENOTFOUND tasks.invalid' }]);
});
