import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '@vision/shared/config';
import { callers } from '@vision/shared/contracts/allowed-calls';
import { createTokenSigner } from '@vision/shared/http/service-token';
import { serviceKeyConfig } from '@vision/shared/service-keys';
import { configSchema as gateway } from '../services/gateway/src/config.ts';
import { configSchema as images } from '../services/images/src/config.ts';
import { configSchema as inference } from '../services/inference/src/config.ts';
import { configSchema as quota } from '../services/quota/src/config.ts';
import { configSchema as results } from '../services/results/src/config.ts';
import { configSchema as tasks } from '../services/tasks/src/config.ts';
import { loadSecrets } from './local/secrets.ts';
import { environmentOf, serviceNames } from './local/service-environment.ts';
import { readSettings, root } from './local/settings.ts';

const schemas = { gateway, tasks, images, results, quota, inference };

/** Who gets which secret, in the local system and in compose. */
const services = {
  GATEWAY_DATABASE_PASSWORD: ['gateway'],
  TASKS_DATABASE_PASSWORD: ['tasks'],
  IMAGES_DATABASE_PASSWORD: ['images'],
  RESULTS_DATABASE_PASSWORD: ['results'],
  QUOTA_DATABASE_PASSWORD: ['quota'],
  INFERENCE_DATABASE_PASSWORD: ['inference'],
  GATEWAY_SERVICE_KEY: ['gateway'],
  TASKS_SERVICE_KEY: ['tasks'],
  IMAGES_SERVICE_KEY: ['images'],
  RESULTS_SERVICE_KEY: ['results'],
  TASKS_CURSOR_KEYS: ['tasks'],
  RESULTS_CURSOR_KEYS: ['results'],
  ADMIN_TOKEN: ['gateway'],
  API_KEY_PEPPERS: ['gateway'],
  STREAM_URL_KEY: ['inference', 'tasks'],
  S3_ACCESS_KEY: ['images', 'inference', 'tasks'],
  S3_SECRET_KEY: ['images', 'inference', 'tasks'],
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

test.each(serviceNames)('what the local system and compose give to %s is what its settings ask for', (name) => {
  const schema: z.ZodObject = schemas[name];
  expect(() => loadConfig(schema, localEnvironment(name))).not.toThrow();
  // SCENES_FILE and the like are set by the image.
  const image = { SCENES_FILE: '/app/config/scenes.json' };
  expect(() => loadConfig(schema, { ...image, ...withDefaults(compose[name]?.environment ?? {}) })).not.toThrow();
  // Every setting may be given by the shell; none is held back because of its name.
  const given = localEnvironment(name, Object.fromEntries(Object.keys(schema.shape).map((key) => [key, 'given'])));
  expect(Object.keys(schema.shape).filter((key) => given[key] === undefined)).toEqual([]);
});

interface Container {
  environment?: Record<string, string | number>;
  command?: unknown;
}
const compose = (
  parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: Record<string, Container>;
  }
).services;
const named = /\$\{([A-Z0-9_]+)(?::-([^}]*))?\}/g;
const withDefaults = (environment: Record<string, string | number>) =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      String(value).replaceAll(named, (_whole, _name, text: string) => text),
    ]),
  );

test('in compose a container gets its own secrets', () => {
  const uses = Object.entries(compose).flatMap(([container, { environment = {} }]) =>
    [...JSON.stringify(environment).matchAll(named)].map(([, name = '']) => ({ name, container })),
  );
  const found = [...Object.keys(services), 'REDIS_PASSWORD', 'INFERENCE_TOKEN'].map((name) => [
    name,
    uses
      .filter((use) => use.name === name)
      .map(({ container }) => container)
      .sort(),
  ]);
  const server = (name: string) => (name.endsWith('_DATABASE_PASSWORD') ? ['postgres'] : []);
  const wanted = Object.entries(services).map(([name, holders]) => [name, [...holders, ...server(name)].sort()]);
  expect(Object.fromEntries(found)).toEqual({
    ...Object.fromEntries(wanted),
    POSTGRES_PASSWORD: ['postgres'],
    REDIS_PASSWORD: ['gateway', 'redis'],
    INFERENCE_TOKEN: ['images', 'inference', 'tasks'],
    // The store itself, and the container that makes the bucket.
    S3_ACCESS_KEY: ['images', 'inference', 's3', 'setup', 'tasks'],
    S3_SECRET_KEY: ['images', 'inference', 's3', 'setup', 'tasks'],
  });
});

test('the file to copy names what compose reads, and no two secrets of compose are the same', () => {
  const example = readFileSync(join(root, '.env.example'), 'utf8').matchAll(/^([A-Z0-9_]+)=/gm);
  const read = [...readFileSync(join(root, 'docker-compose.yml'), 'utf8').matchAll(named)];
  expect([...example].map(([, name]) => name).sort()).toEqual([...new Set(read.map(([, name]) => name))].sort());
  const defaults = new Map(read.filter(([, name = '']) => name in services).map(([, name, text]) => [name, text]));
  expect(new Set(defaults.values()).size).toBe(Object.keys(services).length);
});

test('the keys of compose fit together', () => {
  for (const issuer of callers) {
    const env = withDefaults(compose[issuer]?.environment ?? {});
    const { SERVICE_KEY: key, SERVICE_PUBLIC_KEYS: publicKeys } = loadConfig(z.object(serviceKeyConfig), env);
    expect(() => createTokenSigner({ issuer, key, publicKeys })).not.toThrow();
  }
});

test('the role of a service is the one of its own database', () => {
  for (const name of serviceNames) {
    const own = `vision_${name}`;
    for (const text of [
      localEnvironment(name)['DATABASE_URL'],
      withDefaults(compose[name]?.environment ?? {})['DATABASE_URL'],
    ]) {
      const { username, pathname } = new URL(String(text));
      expect([username, pathname]).toEqual([own, `/${own}`]);
    }
  }
});
