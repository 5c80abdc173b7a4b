import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { State } from '../state.ts';
import type { Strike } from '../nemesis/nemesis.ts';
import { releaseInvariants } from './releases.ts';
import { stopInvariants } from './stops.ts';

const servers: Server[] = [];
const urls = new Map<string, string>();

beforeAll(async () => {
  for (const version of ['0.4.0-dev', '0.3.0']) {
    const labels = `version="${version}",commit="none",node="24.21.0",otel_scope_name="vision"`;
    const server = createServer((_req, res) =>
      res.end(`# TYPE vision_build_info gauge\nvision_build_info{${labels}} 1\n`),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    urls.set(version, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    servers.push(server);
  }
});
afterAll(() => Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve)))));

const replica = (name: string, version: string) => ({ name, healthUrl: urls.get(version) });

const [release] = releaseInvariants;
const checkRelease = (...replicas: ReturnType<typeof replica>[]) =>
  release?.check({ world: { replicas, older: '0.3.0' } } as unknown as State);

test('the second processes have to be of the last release and the first ones not', async () => {
  expect(await checkRelease(replica('tasks-1', '0.4.0-dev'), replica('tasks-2', '0.3.0'))).toEqual([]);
  expect(await checkRelease(replica('tasks-1', '0.3.0'), replica('tasks-2', '0.4.0-dev'))).toEqual([
    'tasks-1 runs 0.3.0',
    'tasks-2 runs 0.4.0-dev',
  ]);
});

const [stops] = stopInvariants;
/** Of a stop that took 11 s, in which this fault struck. */
const checkStop = (name: string, older: string | undefined) => {
  const strike: Strike = { name, holds: [`process ${name.split(':')[0]}`], from: 2_000, to: 5_000, notes: [] };
  return stops?.check({
    stores: { query: () => Promise.resolve([{ task_id: 'a', asked: new Date(1_000), ended: new Date(12_000) }]) },
    strikes: [strike],
    world: { older, backends: { isReal: () => false } },
  } as unknown as State);
};

test('a stop may take long while the clock of a tasks process of 0.3.0 is wrong, and by no other fault', async () => {
  expect(await checkStop('tasks-2: clock an hour ahead', '0.3.0')).toEqual([]);
  for (const [name, older] of [
    ['tasks-2: clock an hour ahead', undefined],
    ['tasks-2: clock an hour ahead', '0.4.0'],
    ['tasks-1: clock an hour ahead', '0.3.0'],
    ['tasks-2: frozen', '0.3.0'],
  ] as const)
    expect(await checkStop(name, older)).toHaveLength(1);
});
