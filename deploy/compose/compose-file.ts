import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { interpolate } from './interpolate.ts';

/** "70s", "1m30s", in milliseconds. */
const duration = z
  .string()
  .regex(/^(\d+m)?(\d+s)?$/)
  .transform((text) => {
    const [, minutes = '0', seconds = '0'] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(text) ?? [];
    return (Number(minutes) * 60 + Number(seconds)) * 1000;
  });

/** "512m", "8g", as the engine takes it. */
const bytes = z.string().regex(/^\d+[kmg]$/);

const healthcheck = z.strictObject({
  test: z.tuple([z.enum(['CMD', 'CMD-SHELL'])], z.string()),
  interval: duration,
  timeout: duration,
  retries: z.number().int(),
});

/** A host folder or a volume, where it is mounted, and whether it is for reading only. */
const mount = z
  .string()
  .regex(/^[\w./-]+:\/[\w./-]+(:ro)?$/)
  .transform((text) => {
    const [source = '', target = '', mode] = text.split(':');
    return { source, target, readOnly: mode === 'ro' };
  });

const publishedPort = z
  .string()
  .regex(/^[\d.]+:\d+:\d+$/)
  .transform((text) => {
    const [host = '', port, containerPort] = text.split(':');
    return { host, port: Number(port), containerPort: Number(containerPort) };
  });

const container = z.strictObject({
  image: z.string(),
  build: z
    .strictObject({ context: z.literal('.'), target: z.string(), args: z.record(z.string(), z.string()) })
    .optional(),
  environment: z.record(z.string(), z.coerce.string()).default({}),
  command: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  ports: z.array(publishedPort).default([]),
  networks: z.array(z.string()).min(1),
  volumes: z.array(mount).default([]),
  tmpfs: z.array(z.string().startsWith('/')).default([]),
  depends_on: z
    .record(z.string(), z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }))
    .default({}),
  healthcheck: healthcheck.optional(),
  restart: z.literal('unless-stopped').optional(),
  profiles: z.array(z.string()).default([]),
  init: z.boolean().default(false),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  mem_limit: bytes.optional(),
  pids_limit: z.coerce.number().int().optional(),
  stop_grace_period: duration.optional(),
  sysctls: z.record(z.string(), z.string()).default({}),
});

const addresses = z.strictObject({ config: z.tuple([z.strictObject({ subnet: z.string() })]) });

const network = z.strictObject({ internal: z.boolean().default(false), ipam: addresses.optional() });

const composeFile = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), container),
  networks: z.record(
    z.string(),
    network.nullable().transform((value) => value ?? { internal: false }),
  ),
  volumes: z.record(z.string(), z.null()),
});

export type Container = z.output<typeof container>;
export type ComposeFile = z.output<typeof composeFile>;

/**
 * Reads the compose file with these variables, as docker compose does. It knows the keys that the file uses and no
 * others: an unknown one is an error, so that nothing is silently passed over.
 * @throws MissingVariables, or an error naming what is not understood.
 */
export function readComposeFile(file: string, variables: Record<string, string | undefined>): ComposeFile {
  const document = withoutAnchors(parse(readFileSync(file, 'utf8'), { merge: true }) as object);
  const compose = composeFile.parse(interpolate(document, variables));
  checkNames(compose);
  return compose;
}

/** `x-…` are places for anchors, which compose reads past. */
function withoutAnchors(document: object): object {
  return Object.fromEntries(Object.entries(document).filter(([key]) => !key.startsWith('x-')));
}

function checkNames({ services, networks, volumes }: ComposeFile): void {
  const unknown = Object.entries(services).flatMap(([name, container]) => [
    ...container.networks.filter((network) => !(network in networks)).map((network) => `${name}: network ${network}`),
    ...Object.keys(container.depends_on)
      .filter((other) => !(other in services))
      .map((other) => `${name}: ${other}`),
    ...container.volumes
      .filter(({ source }) => !source.startsWith('.') && !(source in volumes))
      .map(({ source }) => `${name}: volume ${source}`),
  ]);
  if (unknown.length > 0) throw new Error(`Not declared in the compose file: ${unknown.join(', ')}`);
}
