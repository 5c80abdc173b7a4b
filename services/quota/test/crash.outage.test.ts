import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '@vision/shared/testing/ports';
import { inheritedEnvironment, testEntry } from '@vision/shared/testing/service-process';
import { testToken } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { closeReservation, reserveUnits } from '../src/db/ledger.ts';
import { compareCounters } from '../src/db/verification.ts';
import { atTime, startQuota } from './support.ts';
import type { TestQuota } from './support.ts';

const root = join(import.meta.dirname, '..');
const path = (id: string, action = '') => `/internal/v1/reservations/${encodeURIComponent(id)}${action}`;

let quota: TestQuota;
beforeAll(async () => {
  quota = await startQuota();
});
afterAll(async () => {
  const { differences } = await compareCounters(quota.database.db, 10);
  await quota.stop();
  expect(differences).toEqual([]);
});

test('every step of the sources has a case here', () => {
  const texts = globSync('src/**/*.ts', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
  const names = texts.flatMap((text) => [...text.matchAll(/crashPoint\('([^']+)'\)/g)].map((match) => match[1]));
  expect(names.sort()).toEqual(['quota.closed', 'quota.folded', 'quota.reserved']);
});

test('killed after units were taken: the same id asked for again is granted and charged once', async () => {
  const { subject, id, body } = wanted();
  const doomed = await startDoomed('quota.reserved');
  await expect(doomed.call('PUT', path(id), subject, body)).rejects.toThrow();
  expect(await doomed.ended).toBe('SIGKILL');
  expect(await usedOf(subject)).toBe(10);
  expect(await (await quota.call('PUT', path(id), { subject, body })).json()).toEqual({ outcome: 'granted' });
  expect(await usedOf(subject)).toBe(10);
});

test.each([
  ['/settlement', { units: 4 }, 4],
  ['/refund', undefined, 0],
])('killed after a %s: asked again it says the same, and units came back once', async (action, body, charged) => {
  const { subject, id, body: reserved } = wanted();
  await quota.call('PUT', path(id), { subject, body: reserved });
  const doomed = await startDoomed('quota.closed');
  await expect(doomed.call('POST', path(id, action), subject, body)).rejects.toThrow();
  expect(await doomed.ended).toBe('SIGKILL');
  for (let turn = 0; turn < 2; turn += 1) {
    const again = await quota.call('POST', path(id, action), { subject, ...(body ? { body } : {}) });
    expect(await again.json()).toEqual({ charged });
  }
  expect(await usedOf(subject)).toBe(charged);
});

test('killed between two batches of the retention: the next run removes the rest and counters still verify', async () => {
  const { db } = quota.database;
  const subject = randomUUID();
  await atTime(db, new Date(Date.now() - 130 * 86_400_000).toISOString(), async (tx) => {
    for (const id of [`${randomUUID()}/1`, `${randomUUID()}/1`, `${randomUUID()}/1`]) {
      await reserveUnits(tx, { id, subject, idempotencyKey: randomUUID(), kind: 'image', units: 3, limit: 100 });
      await closeReservation(tx, { id, subject }, { state: 'settled', units: 2 });
    }
  });
  // The first query for old reservations comes with the start.
  const doomed = await startDoomed('quota.folded', { RETENTION_BATCH: '1' });
  expect(await doomed.ended).toBe('SIGKILL');
  expect(await db('reservations').where({ subject })).toHaveLength(2);
  expect((await compareCounters(db, 10)).differences).toEqual([]);
  expect((await quota.call('POST', '/internal/v1/retention/run', { issuer: 'gateway' })).status).toBe(200);
  expect(await db('reservations').where({ subject })).toEqual([]);
});

const wanted = () => ({
  subject: randomUUID(),
  id: `${randomUUID()}/1`,
  body: { idempotency_key: randomUUID(), kind: 'image', units: 10, limit: 10 },
});

async function usedOf(subject: string): Promise<number> {
  const reply = await quota.call('GET', '/internal/v1/usage?video_limit=5&image_limit=100', { subject });
  return ((await reply.json()) as { image: { used: number } }).image.used;
}

/**
 * A process of the service on the same ledger that kills itself at a step. It receives no events: the other process
 * consumes them.
 */
async function startDoomed(crashAt: string, over: Record<string, string> = {}) {
  const [port, healthPort] = [await freePort(), await freePort()];
  const ports = { PORT: String(port), HEALTH_PORT: String(healthPort), KAFKA_BROKERS: '127.0.0.1:1' };
  const child = spawn(process.execPath, ['--conditions=@vision/source', testEntry, 'quota'], {
    cwd: root,
    env: { ...inheritedEnvironment, ...quota.env, ...ports, CRASH_AT: crashAt, ...over },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit').then(([, signal]) => signal as string | null);
  const isUp = () => fetch(`http://127.0.0.1:${healthPort}/health/ready`).then(({ ok }) => ok);
  await until(() => child.signalCode !== null || isUp().catch(() => false), { intervalMs: 50 });
  return {
    ended,
    call: async (method: string, to: string, subject: string, body?: unknown) => {
      const token = await testToken('tasks', 'quota', { subject });
      const json = body === undefined ? {} : { 'content-type': 'application/json' };
      return fetch(`http://127.0.0.1:${port}${to}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...json },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    },
  };
}
