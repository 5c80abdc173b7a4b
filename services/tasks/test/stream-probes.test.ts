import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startDnsServer } from '@vision/shared/testing/dns-server';
import type { DnsAnswer, TestDnsServer } from '@vision/shared/testing/dns-server';
import { until } from '@vision/shared/testing/until';
import { createWorld, startTasks } from './support/system.ts';
import type { Answer, TestTasks, World } from './support/system.ts';

const zone: Record<string, DnsAnswer> = {
  'camera.example.org': { addresses: ['127.0.0.1'] },
  'inside.example.org': { addresses: ['10.0.0.1'] },
  'outside.example.org': { addresses: ['8.8.8.8'] },
  'both.example.org': { addresses: ['127.0.0.1', '10.0.0.1'] },
  'absent.example.org': 'nxdomain',
};

let world: World;
let tasks: TestTasks;
let dns: TestDnsServer;
let silentPeer: Server;
let silentPort: number;
const peers = new Set<Socket>();
beforeAll(async () => {
  dns = await startDnsServer(({ name }) => zone[name] ?? 'silent');
  silentPeer = createServer((socket) => {
    peers.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => silentPeer.listen(0, '127.0.0.1', resolve));
  silentPort = (silentPeer.address() as AddressInfo).port;
  world = await createWorld({ STREAM_DNS_SERVERS: dns.address });
  tasks = await startTasks(world);
});
afterAll(async () => {
  await tasks.stop();
  await world.close();
  peers.forEach((socket) => socket.destroy());
  silentPeer.close();
  await dns.close();
});

const reasonOf = ({ status, body }: Answer) => [status, body.details?.['reason']];
const cameraUrl = () => world.stream.url.replace('127.0.0.1', 'camera.example.org');
const create = (url: string, subject: string = randomUUID(), service = tasks) => service.create({ subject, url });

test('a name is resolved at the configured name servers, and its address is pinned', async () => {
  const created = await create(cameraUrl());
  expect(created.status).toBe(201);
  expect(world.backend.jobs.get(created.body.task_id)?.request.source).toMatchObject({ pinned_address: '127.0.0.1' });
});

test('a silent name server of one zone delays no lookup of another name', async () => {
  const patient = await startTasks(world, { PROBE_CONNECT_MS: '25000', PROBE_TOTAL_MS: '30000' });
  let givenUp = 0;
  const silent = Array.from({ length: 16 }, async (_, at) => {
    await create(`rtsp://camera-${at}.silent.example/`, randomUUID(), patient);
    givenUp += 1;
  });
  await until(() => new Set(dns.asked.map(({ name }) => name).filter((name) => name.includes('silent'))).size === 16);
  const others = await Promise.all(Array.from({ length: 8 }, () => create(cameraUrl(), randomUUID(), patient)));
  expect(others.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 201));
  expect(givenUp).toBe(0);
  await Promise.all(silent);
  await patient.stop();
});

test.each([
  ['an address', 'http://8.8.8.8:22/', 'stream_url_invalid'],
  ['an address where every port is free', 'http://127.0.0.1:1/', 'stream_unreachable'],
  ['a name that leads where every port is free', 'http://camera.example.org:1/', 'stream_unreachable'],
  ['a name that leads elsewhere', 'http://outside.example.org:22/', 'stream_unreachable'],
])('of a port that is not allowed %s receives what the text shows', async (_name, url, reason) => {
  const hasty = await startTasks(world, { PROBE_CONNECT_MS: '500', PROBE_TOTAL_MS: '1000' });
  expect(reasonOf(await create(url, randomUUID(), hasty))).toEqual([400, reason]);
  await hasty.stop();
});

test('without configured networks a forbidden port is refused by its text alone', async () => {
  const strict = await startTasks(world, { STREAM_ALLOWED_CIDRS: '', STREAM_ALLOWED_PORTS: '554,8000-8099' });
  const asked = dns.asked.length;
  const refused = await create('rtsp://outside.example.org:8100/', randomUUID(), strict);
  expect(reasonOf(refused)).toEqual([400, 'stream_url_invalid']);
  expect(dns.asked).toHaveLength(asked);
  await strict.stop();
});

test('limits concurrent probes and probes per minute of a subject; others are not affected', async () => {
  const limited = await startTasks(world, { PROBES_AT_ONCE: '2', PROBES_PER_MINUTE: '3', PROBE_TOTAL_MS: '10000' });
  const subject = randomUUID();
  const silentUrl = `rtsp://127.0.0.1:${silentPort}/`;
  const key = randomUUID();
  const first = await limited.create({ subject, key, url: cameraUrl() });
  expect(first.status).toBe(201);
  const asked = peers.size;
  const held = [silentUrl, silentUrl].map((url) => create(url, subject, limited));
  await until(() => peers.size === asked + 2);
  const third = await create(cameraUrl(), subject, limited);
  expect(third).toMatchObject({
    status: 429,
    body: { code: 'OP-QUOTA-RATE-LIMITED', details: { reason: 'probe_rate' } },
  });
  expect(third.headers.get('retry-after')).toBe('1');
  expect((await create(cameraUrl(), randomUUID(), limited)).status).toBe(201);
  await Promise.all(held);
  const later = await create(cameraUrl(), subject, limited);
  expect(reasonOf(later)).toEqual([429, 'probe_rate']);
  expect(Number(later.headers.get('retry-after'))).toBeGreaterThan(1);
  expect(await world.quota.used(subject)).toBe(1);
  expect(await world.database.db('tasks').where({ subject })).toHaveLength(1);
  const replay = await limited.create({ subject, key, url: cameraUrl() });
  expect([replay.status, replay.body.task_id]).toEqual([200, first.body.task_id]);
  await limited.stop();
});

test('absent, closed, silent and forbidden addresses have the same answer and timing', async () => {
  const urls = {
    closed: 'rtsp://127.0.0.1:1/',
    silent: `rtsp://127.0.0.1:${silentPort}/`,
    forbidden: 'rtsp://inside.example.org/',
    partlyForbidden: 'rtsp://both.example.org/',
    portForbidden: 'rtsp://outside.example.org:22/',
    absent: 'rtsp://absent.example.org/',
    silentZone: 'rtsp://camera.silent.example/',
  };
  const quick = await startTasks(world, { PROBE_CONNECT_MS: '200', PROBE_TOTAL_MS: '400' });
  const timed = async (url: string) => {
    const startedAt = performance.now();
    const { status, body } = await create(url, randomUUID(), quick);
    const { instance: _i, trace_id: _t, ...words } = body;
    return { tookMs: performance.now() - startedAt, words: JSON.stringify([status, words]) };
  };
  const measured: Record<string, { tookMs: number; words: string }[]> = {};
  // One of each kind per round, so that all have the same machine load.
  for (let round = 0; round < 20; round += 1) {
    const answers = Object.entries(urls).map(async ([kind, url]) => (measured[kind] ??= []).push(await timed(url)));
    await Promise.all(answers);
  }
  await quick.stop();
  const all = Object.values(measured).flat();
  expect(new Set(all.map(({ words }) => words)).size).toBe(1);
  expect(all[0]?.words).toContain('stream_unreachable');
  const ranges = Object.entries(measured).map(([kind, answers]) => {
    const times = answers.map(({ tookMs }) => tookMs).sort((left, right) => left - right);
    return { kind, from: times[0] ?? 0, middle: times[10] ?? 0, to: times.at(-1) ?? 0 };
  });
  const apart = ranges.flatMap((one) =>
    ranges.filter((other) => one.middle < other.from || one.middle > other.to).map((other) => [one, other]),
  );
  expect(apart).toEqual([]);
});

test('an address that is invalid as text is refused at once, without the delay of a probe', async () => {
  const slow = await startTasks(world, { PROBE_CONNECT_MS: '6000', PROBE_TOTAL_MS: '6000' });
  let isProbed = false;
  const probed = create(`rtsp://127.0.0.1:${silentPort}/`, randomUUID(), slow).then((answer) => {
    isProbed = true;
    return answer;
  });
  expect(reasonOf(await create('rtsp://127.1/', randomUUID(), slow))).toEqual([400, 'stream_url_invalid']);
  expect(isProbed).toBe(false);
  expect(reasonOf(await probed)).toEqual([400, 'stream_unreachable']);
  await slow.stop();
});
