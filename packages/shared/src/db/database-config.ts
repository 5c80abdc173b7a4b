import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, count, flag, loadConfig } from '../config.ts';
import { certificateFile, tlsFromFiles } from '../pem-file.ts';
import type { DatabaseConnection } from './knex.ts';

const NOT_A_URL =
  'has to be postgres://user:password@host:port/database; special characters of the password have to be percent-encoded, ' +
  'or the password given by DATABASE_PASSWORD';

/** Settings of the connection to the service's own database. */
export const databaseConfig = {
  DATABASE_URL: z
    .string()
    .refine(isAddress, NOT_A_URL)
    .describe('Address of the PostgreSQL database of this service; use sslmode=verify-full or DATABASE_TLS for TLS'),
  DATABASE_SESSION_URL: z
    .string()
    .refine(isAddress, NOT_A_URL)
    .optional()
    .describe(
      'Address of the same database that bypasses a transaction pooler in DATABASE_URL; used by migrations and the outbox relay, which need a session',
    ),
  DATABASE_PASSWORD: z
    .string()
    .optional()
    .describe('Database password, not URL-encoded; replaces the one in DATABASE_URL'),
  DATABASE_TLS: flag(false).describe(
    'Use TLS for PostgreSQL and verify its host name, even if DATABASE_URL does not ask for it',
  ),
  DATABASE_CA_FILE: certificateFile
    .optional()
    .describe('PEM file with the certificate authorities for PostgreSQL, instead of those of Node.js; implies TLS'),
  DATABASE_POOL: count(10).describe('Size of the connection pool'),
};

export type DatabaseConfig = z.output<z.ZodObject<typeof databaseConfig>>;

/** Reads only the settings that `migrate` needs: those of the database. */
export function readMigrateConfig(env: Record<string, string | undefined> = process.env): DatabaseConfig {
  return loadConfig(z.object(databaseConfig), env);
}

/**
 * Connection options from the settings. With TLS, the certificate and the name of the server are verified, also with
 * `sslmode=require`: otherwise a machine in the middle could impersonate the server.
 * @throws ConfigError for settings that would skip the verification.
 */
export function databaseConnection(config: DatabaseConfig): DatabaseConnection {
  const url = new URL(config.DATABASE_URL);
  const sessionUrl = config.DATABASE_SESSION_URL === undefined ? undefined : new URL(config.DATABASE_SESSION_URL);
  if (config.DATABASE_PASSWORD !== undefined) {
    url.password = encodeURIComponent(config.DATABASE_PASSWORD);
    if (sessionUrl) sessionUrl.password = url.password;
  }
  const mode = take(url, 'sslmode');
  const caFile = config.DATABASE_CA_FILE ?? take(url, 'sslrootcert');
  url.searchParams.delete('sslrootcert');
  // Both connections use the same TLS mode.
  sessionUrl?.searchParams.delete('sslmode');
  sessionUrl?.searchParams.delete('sslrootcert');
  if (mode !== undefined && !MODES.has(mode))
    throw new ConfigError(`DATABASE_URL: sslmode=${mode} is not known; one of ${[...MODES.keys()].join(', ')}`);
  const wantsTls = config.DATABASE_TLS || caFile !== undefined || MODES.get(mode ?? 'disable') === true;
  if (wantsTls && mode === 'disable')
    throw new ConfigError('DATABASE_URL says sslmode=disable, and DATABASE_TLS or DATABASE_CA_FILE asks for TLS');
  if (caFile !== undefined && caFile !== config.DATABASE_CA_FILE) assertReadable(caFile);
  return {
    url: url.href,
    sessionUrl: sessionUrl?.href,
    poolMax: config.DATABASE_POOL,
    tls: wantsTls ? tlsFromFiles({ ca: caFile }) : undefined,
  };
}

/** Whether a libpq mode uses TLS. `allow` and `prefer` are refused: they fall back to plain text. */
const MODES = new Map([
  ['disable', false],
  ['require', true],
  ['verify-ca', true],
  ['verify-full', true],
]);

function take(url: URL, name: string): string | undefined {
  const value = url.searchParams.get(name) ?? undefined;
  url.searchParams.delete(name);
  return value;
}

function assertReadable(path: string): void {
  try {
    readFileSync(path);
  } catch {
    throw new ConfigError(`DATABASE_URL: the file of sslrootcert=${path} cannot be read`);
  }
}

/** Checks the path too: an unescaped `/`, `#` or `?` in a password yields a valid address of another host. */
function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, hash } = new URL(text);
  return /^postgres(ql)?:$/.test(protocol) && /^\/[^@/]+$/.test(pathname) && hash === '';
}
