import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call } from '../http/call.ts';
import { testMetrics } from '../testing/metrics.ts';
import { createDeadline, withDeadline } from './deadline.ts';

const metrics = testMetrics();
const server = createServer((_req, res) => res.end('{}'));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('the limit that is shown is that of all calls of a kind, also after one that had less time', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const deadline = createDeadline(2_000, true);
  deadline.start();
  const asked = { upstream: 'images', operation: 'read', method: 'GET', url, timeoutMs: 3_000 } as const;
  expect((await withDeadline(deadline, () => call(asked))).status).toBe(200);
  expect(await metrics.sumOf('vision.upstream.limit', { operation: 'read' })).toBe(3);
});
