import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { createLogger } from '@vision/shared/logger';
import { freePort } from '@vision/shared/testing/ports';
import { until } from '@vision/shared/testing/until';
import { findProgram } from '../../../deploy/local/host-programs.ts';
import { createRedisGuard } from '../src/clients/redis.ts';
import { redisConfig, redisConnection } from '../src/redis-config.ts';
import { createSignals } from '../src/signals.ts';

const folder = mkdtempSync(join(tmpdir(), 'vision-sentinel-'));
const running: ChildProcess[] = [];
let ports: { primary: number; replica: number; sentinel: number };

beforeAll(async () => {
  ports = { primary: await freePort(), replica: await freePort(), sentinel: await freePort() };
  const { primary, replica, sentinel } = ports;
  start('primary', `port ${primary}`);
  start('replica', `port ${replica}`, `replicaof 127.0.0.1 ${primary}`);
  const watched = [
    `monitor limits 127.0.0.1 ${primary} 1`,
    'down-after-milliseconds limits 1000',
    'failover-timeout limits 5000',
  ];
  start('sentinel', `port ${sentinel}`, ...watched.map((line) => `sentinel ${line}`));
  await until(async () => (await ask(sentinel, 'SENTINEL', 'REPLICAS', 'limits')).includes(String(replica)));
});

afterAll(async () => {
  for (const program of running) program.kill('SIGKILL');
  await until(() => running.every(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null));
  rmSync(folder, { recursive: true });
});

function start(name: string, ...lines: string[]): void {
  const file = join(folder, `${name}.conf`);
  writeFileSync(file, ['bind 127.0.0.1', `dir ${folder}`, 'save ""', ...lines, ''].join('\n'));
  const args = name === 'sentinel' ? [file, '--sentinel'] : [file];
  running.push(spawn(findProgram('redis') ?? 'redis-server', args, { stdio: 'ignore' }));
}

async function ask(port: number, command: string, ...args: string[]): Promise<string> {
  const client = new Redis({ port, lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return JSON.stringify(await client.call(command, ...args));
  } finally {
    client.disconnect();
  }
}

function guardOf(changed: Record<string, string>) {
  const values = { REDIS_URL: 'redis://limits', REDIS_SENTINEL_NAME: 'limits', ...changed };
  const connection = redisConnection(z.object(redisConfig).parse(values));
  const signals = createSignals(createLogger('test', 'silent'));
  return createRedisGuard({ connection, timeoutMs: 2_000, cooldownMs: 0, signals });
}

test('the gateway follows the primary that Sentinels name, also after a failover', async () => {
  const guard = guardOf({ REDIS_SENTINELS: `127.0.0.1:1,127.0.0.1:${ports.sentinel}` });
  await until(async () => (await guard.check.ask()) === undefined);
  guard.start();
  try {
    const count = () => guard.attempt('count', (client) => client.incr('things'));
    expect(await until(count)).toBeGreaterThan(0);
    running[0]?.kill('SIGKILL');
    await until(async () => (await ask(ports.replica, 'ROLE')).includes('master'));
    expect(await until(count)).toBeGreaterThan(0);
  } finally {
    guard.stop();
  }
});

test('Sentinels that do not answer, and one that knows no such primary, are one sentence', async () => {
  for (const changed of [
    { REDIS_SENTINELS: '127.0.0.1:1' },
    { REDIS_SENTINELS: `127.0.0.1:${ports.sentinel}`, REDIS_SENTINEL_NAME: 'another' },
  ]) {
    const fault = await guardOf(changed).check.ask();
    expect(fault?.sentence).toMatch(/^Redis does not answer at REDIS_URL \("\w+" of REDIS_SENTINELS\): /);
  }
  expect(() => guardOf({ REDIS_SENTINELS: 'sentinel' })).toThrow('REDIS_SENTINELS: sentinel is not host:port');
});
