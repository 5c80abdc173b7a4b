import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { freePort } from './ports.ts';

test('ports for processes that are about to start are different, and no outgoing connection is given one of them', async () => {
  const [first = 0] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/).map(Number);
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set(ports).size).toBe(50);
  expect(Math.max(...ports)).toBeLessThan(first);
});

test('a port that is in use is passed over', async () => {
  const taken = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => taken.listen(port + 1, '127.0.0.1', resolve));
  expect(await freePort()).not.toBe(port + 1);
  await new Promise((resolve) => taken.close(resolve));
});
