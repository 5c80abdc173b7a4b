import { expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { z } from 'zod';
import { loadConfig } from '@vision/shared/config';
import { readMigrateConfig } from '@vision/shared/db/database-config';
import { callers } from '@vision/contracts/allowed-calls';
import { createTokenSigner } from '@vision/shared/http/service-token';
import { configSchema as gateway } from '../../services/gateway/src/config.ts';
import { clientNetwork, parseTrusted } from '../../services/gateway/src/domain/client-network.ts';
import { configSchema as images } from '../../services/images/src/config.ts';
import { configSchema as inference } from '../../services/inference/src/config.ts';
import { configSchema as notify } from '../../services/notify/src/config.ts';
import { configSchema as quota } from '../../services/quota/src/config.ts';
import { configSchema as results } from '../../services/results/src/config.ts';
import { configSchema as tasks } from '../../services/tasks/src/config.ts';
import { serviceNames } from '../local/service-environment.ts';
import { root } from '../local/settings.ts';
import { readComposeFile } from './compose-file.ts';
import { composeSecrets } from './env.ts';
import { variablesIn } from './interpolate.ts';

const schemas = { gateway, tasks, images, results, quota, notify, inference };
const file = join(root, 'docker-compose.yml');
const secrets = composeSecrets({ INFERENCE_TOKEN: 'a-static-token-of-a-backend' });
const compose = readComposeFile(file, { ...secrets, INFERENCE_TOKEN: 'a-static-token-of-a-backend' });
const containers = Object.entries(compose.services);
const ours = containers.filter(([, { image }]) => image.startsWith('vision/'));
const watchers = containers.filter(([, { profiles }]) => profiles.includes('observe'));
const stores = containers.filter(([, { image, profiles }]) => !image.startsWith('vision/') && profiles.length === 0);
const environmentOf = (name: string) => compose.services[name]?.environment ?? {};

/** What the images set themselves (Dockerfile). */
const imageVariables = { SCENES_FILE: '/app/config/scenes.json' };
/** Read by the libraries of telemetry, not by the services. */
const OF_TELEMETRY = /^OTEL_/;

test.each(serviceNames)('compose gives %s the settings it asks for and none that it does not know', (name) => {
  const schema: z.ZodObject = schemas[name];
  expect(() => loadConfig(schema, { ...imageVariables, ...environmentOf(name) })).not.toThrow();
  const unknown = Object.keys(environmentOf(name)).filter((key) => !(key in schema.shape) && !OF_TELEMETRY.test(key));
  expect(unknown).toEqual([]);
});

test('without a filled in file of variables, compose refuses and names every secret that is missing', () => {
  const required = Object.keys(secrets).filter((name) => name !== 'INFERENCE_TOKEN');
  for (const name of required) {
    const line = `required variable ${name} is missing a value: run make env`;
    expect(() => readComposeFile(file, { ...secrets, [name]: '' })).toThrow(line);
    expect(() => readComposeFile(file, {})).toThrow(line);
  }
});

test('the file to copy names what compose reads', () => {
  const example = readFileSync(join(root, '.env.example'), 'utf8').matchAll(/^([A-Z0-9_]+)=/gm);
  const read = variablesIn(readFileSync(file, 'utf8').replaceAll(/^ *#.*$/gm, ''));
  expect([...example].map(([, name]) => name).sort()).toEqual([...read].sort());
});

test('no secret stands in the files themselves', () => {
  const example = readFileSync(join(root, '.env.example'), 'utf8');
  for (const name of Object.keys(secrets)) expect(example).toMatch(new RegExp(`^${name}=$`, 'm'));
  const withDefaults = [...readFileSync(file, 'utf8').matchAll(/\$\{([A-Z0-9_]+):-[^}]+\}/g)].map(([, name]) => name);
  expect(withDefaults.filter((name) => /SECRET|PASSWORD|KEY|TOKEN|PEPPER/.test(String(name)))).toEqual([]);
});

test('a container gets its own secrets and no others', () => {
  const holders = (secret: string) =>
    containers
      .filter(([, { environment }]) => Object.values(environment).some((value) => value.includes(secret)))
      .map(([name]) => name)
      .sort();
  const found = Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, holders(secret)]));
  const store = ['bucket', 'images', 'inference', 'results', 's3', 'tasks'];
  const databases = serviceNames.map((name) => [
    `${name.toUpperCase()}_DATABASE_PASSWORD`,
    [name, `migrate-${name}`, 'postgres'].sort(),
  ]);
  expect(found).toEqual({
    ...(Object.fromEntries(databases) as object),
    POSTGRES_PASSWORD: ['postgres'],
    GATEWAY_SERVICE_KEY: ['gateway'],
    TASKS_SERVICE_KEY: ['tasks'],
    IMAGES_SERVICE_KEY: ['images'],
    RESULTS_SERVICE_KEY: ['results'],
    SERVICE_PUBLIC_KEYS: [...serviceNames].sort(),
    TASKS_CURSOR_KEYS: ['tasks'],
    RESULTS_CURSOR_KEYS: ['results'],
    NOTIFY_CURSOR_KEYS: ['notify'],
    ADMIN_TOKEN: ['gateway', 'visionctl'],
    API_KEY_PEPPERS: ['gateway'],
    LINK_KEYS: ['gateway'],
    WEBHOOK_KEYS: ['notify'],
    STREAM_URL_KEY: ['inference', 'tasks'],
    REDIS_PASSWORD: ['gateway', 'redis'],
    GRAFANA_PASSWORD: ['grafana'],
    S3_ACCESS_KEY: store,
    S3_SECRET_KEY: store,
  });
});

test('the keys of compose fit together', () => {
  for (const issuer of callers) {
    const { SERVICE_KEY: key, SERVICE_PUBLIC_KEYS: publicKeys } = loadConfig(schemas[issuer] as z.ZodObject, {
      ...imageVariables,
      ...environmentOf(issuer),
    }) as Parameters<typeof createTokenSigner>[0] & Record<'SERVICE_KEY' | 'SERVICE_PUBLIC_KEYS', never>;
    expect(() => createTokenSigner({ issuer, key, publicKeys })).not.toThrow();
  }
});

test('a migration is given what it asks for', () => {
  for (const name of serviceNames) expect(() => readMigrateConfig(environmentOf(`migrate-${name}`))).not.toThrow();
});

test('no service is killed before the end of its longest stop', () => {
  const { fixedMs } = JSON.parse(readFileSync(join(root, 'docs/stop-times.json'), 'utf8')) as {
    fixedMs: Record<string, number>;
  };
  for (const name of serviceNames) {
    const config = loadConfig(schemas[name] as z.ZodObject, { ...imageVariables, ...environmentOf(name) });
    const { DRAIN_DELAY_MS, SHUTDOWN_GRACE_MS } = config as Record<string, number>;
    const longest = (DRAIN_DELAY_MS ?? NaN) + (SHUTDOWN_GRACE_MS ?? NaN) + (fixedMs[name] ?? NaN);
    expect(compose.services[name]?.stop_grace_period).toBeGreaterThan(longest);
  }
});

test('the role of a service is the one of its own database', () => {
  for (const name of serviceNames) {
    for (const container of [name, `migrate-${name}`]) {
      const { username, pathname } = new URL(environmentOf(container)['DATABASE_URL'] ?? '');
      expect([username, pathname]).toEqual([`vision_${name}`, `/vision_${name}`]);
    }
  }
});

test('our containers can write nothing but /tmp, hold no rights, and have limits', () => {
  for (const [, container] of ours) {
    const writable = [...container.tmpfs.map((text) => text.split(':')[0]), ...container.volumes.map((v) => v.target)];
    expect(container).toMatchObject({
      init: true,
      read_only: true,
      cap_drop: ['ALL'],
      // No profile of seccomp or AppArmor is given up.
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.any(String),
      pids_limit: expect.any(Number),
    });
    expect(writable).toEqual(['/tmp']);
  }
});

test('only the gateway and Grafana are published, to this machine only', () => {
  const published = containers.flatMap(([name, { ports }]) => ports.map(({ host, port }) => `${name} ${host}:${port}`));
  expect(published).toEqual(['gateway 127.0.0.1:8080', 'gateway 127.0.0.1:8081', 'grafana 127.0.0.1:3000']);
});

test('a client with a private address behind a proxy on this machine counts by that address', () => {
  const { TRUSTED_PROXIES: trusted = '' } = environmentOf('gateway');
  const subnet = compose.networks['front']?.ipam?.config[0].subnet ?? '';
  // The first address is the engine's own, where connections from this machine come from.
  const peer = subnet.replace(/0\/\d+$/, '1');
  const forwardedFor = '203.0.113.9, 192.168.1.50';
  expect(clientNetwork({ peer, forwardedFor }, parseTrusted(trusted.split(',')))).toBe('192.168.1.50');
});

test('stores are reached by no network that leads elsewhere, and have a health check', () => {
  for (const [name, { networks, healthcheck }] of stores) {
    expect({ name, internal: networks.every((network) => compose.networks[network]?.internal) }).toEqual({
      name,
      internal: true,
    });
    expect(healthcheck).toBeDefined();
  }
  const outside = ours.filter(([, { networks }]) => networks.some((network) => !compose.networks[network]?.internal));
  expect(outside.map(([name]) => name).sort()).toEqual(['gateway', 'images', 'inference', 'notify', 'tasks']);
});

test('what watches is started when it is asked for only, in exact versions and without rights', () => {
  expect(watchers.map(([name]) => name)).toEqual(['collector', 'prometheus', 'tempo', 'loki', 'grafana']);
  for (const [, watcher] of watchers) {
    expect(watcher.image).toMatch(/:v?\d+\.\d+\.\d+$/);
    expect(watcher).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(watcher.mem_limit && watcher.pids_limit).toBeTruthy();
  }
});

test('what watches reaches no store, and only Grafana has a network that leads elsewhere, for its port', () => {
  for (const [name, { networks }] of watchers) {
    const leadsElsewhere = networks.some((network) => !compose.networks[network]?.internal);
    expect({ name, leadsElsewhere }).toEqual({ name, leadsElsewhere: name === 'grafana' });
    expect(networks).not.toContain('stores');
  }
});

test('every file that a container mounts is there', () => {
  const mounted = containers.flatMap(([, { volumes }]) => volumes.map(({ source }) => source));
  const files = mounted.filter((source) => source.startsWith('.'));
  expect(files.filter((source) => !existsSync(join(root, source)))).toEqual([]);
});

test('the collector and Grafana send and ask where a container of that name listens', () => {
  const named = ['collector.yaml', 'prometheus.yaml', 'grafana/datasources.yaml']
    .map((name) => readFileSync(join(root, 'deploy/compose/observe', name), 'utf8'))
    .flatMap((text) => [...text.matchAll(/(?:http:\/\/|\[)([a-z]+):\d+/g)].map(([, host = '']) => host));
  expect(named.length).toBeGreaterThan(4);
  for (const host of named) expect(Object.keys(compose.services)).toContain(host);
  const { scrape_configs: scraped } = parse(
    readFileSync(join(root, 'deploy/compose/observe/prometheus.yaml'), 'utf8'),
  ) as { scrape_configs: { dns_sd_configs?: { names: string[] }[] }[] };
  expect(scraped[0]?.dns_sd_configs?.[0]?.names.sort()).toEqual([...serviceNames].sort());
});

test('the images of compose are those that the Dockerfile knows', () => {
  const targets = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/ AS ([a-z]+)$/gm)].map(
    ([, name]) => name,
  );
  for (const name of serviceNames) {
    expect(compose.services[name]?.build).toEqual({ context: '.', target: name, args: { REVISION: 'none' } });
    expect(compose.services[name]?.image).toBe(`vision/${name}:local`);
    expect(targets).toContain(name);
  }
});

test('an image that compose builds is given the commit, by the name that the Dockerfile reads', () => {
  const given = readComposeFile(file, { ...secrets, REVISION: '0123456789abcdef' });
  for (const name of serviceNames) expect(given.services[name]?.build?.args).toEqual({ REVISION: '0123456789abcdef' });
  expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toMatch(/^ARG REVISION=none$/m);
});
