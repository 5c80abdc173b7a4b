import { afterEach, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { State } from '../state.ts';
import { loopInvariants } from './loops.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** What the invariant says of a process that shows these loops: time since a success and pause, in seconds. */
async function breachesOf(loops: Record<string, { age: number; pause: number }>): Promise<string[]> {
  const samples = (metric: string, what: 'age' | 'pause') => [
    `# TYPE ${metric} gauge`,
    ...Object.entries(loops).map(([loop, of]) => `${metric}{loop="${loop}"} ${of[what]}`),
  ];
  const lines = [
    ...samples('vision_loop_last_success_seconds', 'age'),
    ...samples('vision_loop_pause_seconds', 'pause'),
  ];
  server = createServer((_req, res) => res.end(`${lines.join('\n')}\n`));
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const healthUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state = { world: { replicas: [{ name: 'results-1', healthUrl }] } } as unknown as State;
  return (await loopInvariants[0]?.check(state)) ?? [];
}

test.each([
  ['succeeded within three of its pauses', { retention: { age: 10_000, pause: 3_600 } }, []],
  ['succeeds often enough', { relay: { age: 59, pause: 1 } }, []],
  [
    'stands still',
    { relay: { age: 61, pause: 1 }, sweep: { age: 1, pause: 1 } },
    ['results-1: relay did not succeed for 61 s'],
  ],
  ['cannot be seen', {}, ['results-1 shows no loop']],
])('a loop that %s', async (_what, loops, breaches) => {
  expect(await breachesOf(loops)).toEqual(breaches);
});
