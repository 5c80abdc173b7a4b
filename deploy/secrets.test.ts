import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { loadConfig } from '@vision/shared/config';
import { configSchema as gateway } from '../services/gateway/src/config.ts';
import { configSchema as images } from '../services/images/src/config.ts';
import { configSchema as inference } from '../services/inference/src/config.ts';
import { configSchema as notify } from '../services/notify/src/config.ts';
import { configSchema as quota } from '../services/quota/src/config.ts';
import { configSchema as results } from '../services/results/src/config.ts';
import { configSchema as tasks } from '../services/tasks/src/config.ts';
import { loadSecrets } from './local/secrets.ts';
import { environmentOf, serviceNames } from './local/service-environment.ts';
import { readSettings } from './local/settings.ts';

const schemas = { gateway, tasks, images, results, quota, notify, inference };

/** Who gets which secret. */
const services = {
  GATEWAY_DATABASE_PASSWORD: ['gateway'],
  TASKS_DATABASE_PASSWORD: ['tasks'],
  IMAGES_DATABASE_PASSWORD: ['images'],
  RESULTS_DATABASE_PASSWORD: ['results'],
  QUOTA_DATABASE_PASSWORD: ['quota'],
  NOTIFY_DATABASE_PASSWORD: ['notify'],
  INFERENCE_DATABASE_PASSWORD: ['inference'],
  GATEWAY_SERVICE_KEY: ['gateway'],
  TASKS_SERVICE_KEY: ['tasks'],
  IMAGES_SERVICE_KEY: ['images'],
  RESULTS_SERVICE_KEY: ['results'],
  TASKS_CURSOR_KEYS: ['tasks'],
  RESULTS_CURSOR_KEYS: ['results'],
  NOTIFY_CURSOR_KEYS: ['notify'],
  ADMIN_TOKEN: ['gateway'],
  API_KEY_PEPPERS: ['gateway'],
  LINK_KEYS: ['gateway'],
  WEBHOOK_KEYS: ['notify'],
  STREAM_URL_KEY: ['inference', 'tasks'],
  S3_ACCESS_KEY: ['images', 'inference', 'results', 'tasks'],
  S3_SECRET_KEY: ['images', 'inference', 'results', 'tasks'],
  POSTGRES_PASSWORD: [] as string[],
};

const localDir = mkdtempSync(join(tmpdir(), 'vision-secrets-'));
afterAll(() => rmSync(localDir, { recursive: true }));
const settings = { ...readSettings({}), localDir };
const secrets = loadSecrets(settings);

function localEnvironment(name: (typeof serviceNames)[number], env: NodeJS.ProcessEnv = {}) {
  const infrastructure = {
    databaseUrl: `postgres://postgres:${secrets.POSTGRES_PASSWORD}@127.0.0.1:1/postgres`,
    redisUrl: 'redis://:the-redis-password@127.0.0.1:1',
    brokers: '127.0.0.1:1',
    objectStore: {
      endpoint: 'http://127.0.0.1:1',
      region: 'us-east-1',
      bucket: 'vision',
      accessKey: secrets.S3_ACCESS_KEY,
      secretKey: secrets.S3_SECRET_KEY,
    },
    secrets,
  };
  return environmentOf({ settings, infrastructure, env }, name);
}
const holdersOf = (secret: string, env?: NodeJS.ProcessEnv) =>
  serviceNames.filter((name) => Object.values(localEnvironment(name, env)).some((value) => value?.includes(secret)));

test('in the local system a service gets its own secrets, and each is a different one', () => {
  const found = Object.entries(secrets).map(([name, secret]) => [name, holdersOf(secret).sort()]);
  expect(Object.fromEntries(found)).toEqual(services);
  expect(new Set(Object.values(secrets)).size).toBe(Object.keys(secrets).length);
  expect(holdersOf('the-redis-password')).toEqual(['gateway']);
});

test('secrets of the shell that starts the local system reach no service, and its settings do', () => {
  const shell = {
    POSTGRES_PASSWORD: 'of-the-shell',
    API_KEY: 'of-the-shell',
    AWS_SECRET_ACCESS_KEY: 'of-the-shell',
    AWS_SESSION_TOKEN: 'of-the-shell',
    PGPASSWORD: 'of-the-shell',
    GOOGLE_CREDENTIALS: 'of-the-shell',
    ADMIN_TOKEN_FILE: 'of-the-shell',
  };
  expect(holdersOf('of-the-shell', shell)).toEqual(['gateway']);
  const { ADMIN_TOKEN_FILE: _file, ...others } = shell;
  expect(holdersOf('of-the-shell', others)).toEqual([]);
  const wanted = { KEY_WAIT_MS: '7', KEY_CACHE_MS: '8', AUTH_FAILURES_PER_MINUTE: '9' };
  expect(localEnvironment('tasks', wanted)).toMatchObject(wanted);
});

test.each(serviceNames)('what the local system gives to %s is what its settings ask for', (name) => {
  const schema: z.ZodObject = schemas[name];
  expect(() => loadConfig(schema, localEnvironment(name))).not.toThrow();
  // Every setting may be given by the shell; none is held back because of its name.
  const given = localEnvironment(name, Object.fromEntries(Object.keys(schema.shape).map((key) => [key, 'given'])));
  expect(Object.keys(schema.shape).filter((key) => given[key] === undefined)).toEqual([]);
});

test('the role of a service is the one of its own database', () => {
  for (const name of serviceNames) {
    const own = `vision_${name}`;
    const { username, pathname } = new URL(String(localEnvironment(name)['DATABASE_URL']));
    expect([username, pathname]).toEqual([own, `/${own}`]);
  }
});
