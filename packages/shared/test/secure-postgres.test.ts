import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { loadConfig } from '../src/config.ts';
import { databaseConfig, databaseConnection } from '../src/db/database-config.ts';
import { createDb } from '../src/db/knex.ts';
import { databaseCheck } from '../src/db/migrate.ts';
import { openSession } from '../src/db/session.ts';
import { until } from '../src/testing/until.ts';
import { ODD_PASSWORD, startSecurePostgres } from './support/secure-stores.ts';
import type { SecureStore } from './support/secure-stores.ts';

let server: SecureStore;

beforeAll(async () => {
  server = await startSecurePostgres();
  await until(() => encrypted(settings()), { intervalMs: 200 });
});

afterAll(() => server.stop());

type Environment = Record<string, string>;

const settings = (): Environment => ({
  DATABASE_URL: `postgres://vision@127.0.0.1:${server.port}/postgres`,
  DATABASE_PASSWORD: ODD_PASSWORD,
  DATABASE_CA_FILE: server.certificates.ca,
});

const connectionOf = (env: Environment) => databaseConnection(loadConfig(z.object(databaseConfig), env));

/** Whether the connection that a query uses is encrypted, by the pool and by a session of its own. */
async function encrypted(env: Environment): Promise<boolean> {
  const db = createDb({ ...connectionOf(env), applicationName: 'test' });
  const sql = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
  try {
    const session = await openSession(db);
    const [own] = await session.query<{ ssl: boolean }>(sql);
    await session.close();
    const { rows } = await db.raw<{ rows: { ssl: boolean }[] }>(sql);
    return own?.ssl === true && rows[0]?.ssl === true;
  } finally {
    await db.destroy();
  }
}

async function fault(env: Environment): Promise<string | undefined> {
  const connection = connectionOf(env);
  const db = createDb({ ...connection, applicationName: 'test', acquireTimeoutMs: 3_000 });
  try {
    return (await databaseCheck(db, connection, []).ask())?.sentence;
  } finally {
    await db.destroy();
  }
}

test('a password with any characters opens an encrypted connection with a checked name', async () => {
  expect(await encrypted(settings())).toBe(true);
  const { DATABASE_PASSWORD: _own, DATABASE_CA_FILE: ca = '', ...rest } = settings();
  const inAddress = `postgres://vision:${encodeURIComponent(ODD_PASSWORD)}@127.0.0.1:${server.port}/postgres`;
  expect(await encrypted({ ...rest, DATABASE_URL: `${inAddress}?sslmode=verify-full&sslrootcert=${ca}` })).toBe(true);
  expect(await encrypted({ ...rest, DATABASE_URL: `${inAddress}?sslmode=require`, DATABASE_CA_FILE: ca })).toBe(true);
});

test('a server with a certificate that is not trusted is refused, also when the address only asks for encryption', async () => {
  expect(await fault({ ...settings(), DATABASE_CA_FILE: server.strangers.ca })).toMatch(/DATABASE_CA_FILE has to hold/);
  const url = `postgres://vision@127.0.0.1:${server.port}/postgres?sslmode=require`;
  expect(await fault({ DATABASE_URL: url, DATABASE_PASSWORD: ODD_PASSWORD })).toMatch(/DATABASE_CA_FILE has to hold/);
  expect(await fault({ ...settings(), DATABASE_CA_FILE: '', DATABASE_TLS: 'true' })).toMatch(/DATABASE_CA_FILE/);
});

test('a server with the certificate of another name is refused', async () => {
  const DATABASE_URL = `postgres://vision@127.0.0.2:${server.port}/postgres`;
  expect(await fault({ ...settings(), DATABASE_URL })).toMatch(/is not for the name in DATABASE_URL/);
});

test('a wrong password, a missing database and a connection in the clear are each one sentence without the password', async () => {
  const wrong = await fault({ ...settings(), DATABASE_PASSWORD: 'wrong-secret' });
  expect(wrong).toMatch(/^PostgreSQL refuses the password of DATABASE_URL \(vision@127.0.0.1:\d+\/postgres\)/);
  expect(wrong).not.toContain('wrong-secret');
  const DATABASE_URL = `postgres://vision@127.0.0.1:${server.port}/absent`;
  expect(await fault({ ...settings(), DATABASE_URL })).toMatch(/^There is no database "absent"/);
  expect(await fault({ ...settings(), DATABASE_CA_FILE: '' })).toMatch(/no encryption/);
});

test('settings that would leave out the check are refused', () => {
  const base = { DATABASE_URL: 'postgres://vision@db/vision' };
  expect(() => connectionOf({ DATABASE_URL: `${base.DATABASE_URL}?sslmode=no-verify` })).toThrow(
    /sslmode=no-verify is not known/,
  );
  expect(() => connectionOf({ DATABASE_URL: `${base.DATABASE_URL}?sslmode=prefer` })).toThrow(
    /sslmode=prefer is not known/,
  );
  expect(() => connectionOf({ DATABASE_URL: `${base.DATABASE_URL}?sslmode=disable`, DATABASE_TLS: 'true' })).toThrow(
    /disable/,
  );
  expect(() => connectionOf({ DATABASE_URL: 'postgres://vision:p@ss/w#rd@db/vision' })).toThrow(
    /DATABASE_URL: (?!.*w#rd)/,
  );
});
