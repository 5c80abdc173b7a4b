import type { ConnectionOptions } from 'node:tls';
import { z } from 'zod';
import { ConfigError, list } from '@vision/shared/config';
import { certificateFile, tlsFromFiles } from '@vision/shared/pem-file';

/** Settings of the connection to Redis. */
export const redisConfig = {
  REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .describe('Redis for rate limits and request slots; rediss:// for TLS; the user is the ACL user'),
  REDIS_PASSWORD: z.string().optional().describe('Redis password, not URL-encoded; replaces the one in REDIS_URL'),
  REDIS_SENTINELS: list('').describe(
    'Sentinels (host:port, comma-separated) that know where the primary is; host and port of REDIS_URL are not used then',
  ),
  REDIS_SENTINEL_NAME: z.string().min(1).default('mymaster').describe('Name of the primary at the Sentinels'),
  REDIS_SENTINEL_PASSWORD: z.string().optional().describe('Password of the Sentinels, where they have one'),
  REDIS_CA_FILE: certificateFile
    .optional()
    .describe('PEM file with the certificate authorities for Redis (rediss://), instead of those of Node.js'),
};

/** Address of Redis. */
export interface RedisConnection {
  url: string;
  /** TLS with these authorities; the name of the server is checked. */
  tls?: ConnectionOptions | undefined;
  /** Sentinels that know the primary, in place of the host in the address. */
  sentinels?: Sentinels | undefined;
}

interface Sentinels {
  addresses: { host: string; port: number }[];
  name: string;
  password?: string | undefined;
}

/** Converts the settings of the connection. @throws ConfigError for certificate authorities without TLS. */
export function redisConnection(config: z.output<z.ZodObject<typeof redisConfig>>): RedisConnection {
  const { REDIS_PASSWORD: password, REDIS_CA_FILE: ca } = config;
  const url = new URL(config.REDIS_URL);
  if (password !== undefined) url.password = encodeURIComponent(password);
  const isEncrypted = url.protocol === 'rediss:';
  if (ca !== undefined && !isEncrypted) throw new ConfigError('REDIS_CA_FILE is for a REDIS_URL with rediss://');
  return { url: url.href, tls: isEncrypted ? tlsFromFiles({ ca }) : undefined, sentinels: sentinelsOf(config) };
}

function sentinelsOf(config: z.output<z.ZodObject<typeof redisConfig>>): Sentinels | undefined {
  const { REDIS_SENTINELS: listed, REDIS_SENTINEL_NAME: name, REDIS_SENTINEL_PASSWORD: password } = config;
  if (listed.length === 0) return undefined;
  const addresses = listed.map((address) => {
    const [, host, port] = /^\[?([^\]\s]+?)\]?:(\d{1,5})$/.exec(address) ?? [];
    if (host === undefined) throw new ConfigError(`REDIS_SENTINELS: ${address} is not host:port`);
    return { host, port: Number(port) };
  });
  return { addresses, name, password };
}
