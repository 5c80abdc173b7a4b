import type { ConnectionOptions } from 'node:tls';
import { z } from 'zod';
import { ConfigError } from './config.ts';
import { certificateFile, tlsFromFiles } from './pem-file.ts';

/** Settings of the way to Redis. */
export const redisConfig = {
  REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .describe('Redis for rate limits and request slots; rediss:// for TLS; the user is the ACL user'),
  REDIS_PASSWORD: z.string().optional().describe('Redis password, not URL-encoded; replaces the one in REDIS_URL'),
  REDIS_CA_FILE: certificateFile
    .optional()
    .describe('PEM file with the certificate authorities for Redis (rediss://), instead of those of Node.js'),
};

/** How to reach Redis. */
export interface RedisConnection {
  url: string;
  /** TLS with these authorities; the name of the server is checked. */
  tls?: ConnectionOptions | undefined;
}

/** How to reach Redis, in the words of the code. @throws ConfigError for authorities that nobody would ask. */
export function redisConnection(config: z.output<z.ZodObject<typeof redisConfig>>): RedisConnection {
  const { REDIS_PASSWORD: password, REDIS_CA_FILE: ca } = config;
  const url = new URL(config.REDIS_URL);
  if (password !== undefined) url.password = encodeURIComponent(password);
  const isEncrypted = url.protocol === 'rediss:';
  if (ca !== undefined && !isEncrypted) throw new ConfigError('REDIS_CA_FILE is for a REDIS_URL with rediss://');
  return { url: url.href, tls: isEncrypted ? tlsFromFiles({ ca }) : undefined };
}
