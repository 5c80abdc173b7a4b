import { jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { createLogger } from '@vision/shared/logger';
import type { Logger } from '@vision/shared/logger';
import { readApiContract } from '@vision/shared/testing/api-contract';
import { hasten } from '@vision/shared/testing/hasten';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import type { TestDatabase } from '@vision/shared/testing/postgres';
import { testRedis } from '@vision/shared/testing/redis';
import { testPublicKeys, testServiceKey } from '@vision/shared/testing/service-keys';
import { until } from '@vision/shared/testing/until';
import { constants, readConfig } from '../../src/config.ts';
import { migrations } from '../../src/db/migrations/list.ts';
import { createService } from '../../src/service.ts';
import { startUpstream } from './upstream.ts';
import type { Upstream } from './upstream.ts';

export const adminToken = 'admin-token-admin-token';
const root = join(import.meta.dirname, '../../../..');
const adminContract = await readApiContract(join(root, 'docs/openapi/admin.json'));

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: Record<string, unknown>;
}

export interface Replica {
  url: string;
  adminUrl: string;
  healthUrl: string;
  stop: () => Promise<void>;
}

export interface TestGateway extends Replica {
  database: TestDatabase;
  upstream: Upstream;
  /** Reads the data of the gateway in Redis. */
  redis: Redis;
  /** All log lines, as text. */
  log: () => string;
  env: Record<string, string>;
  admin: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  /** A key with a subject of its own. */
  newKey: (limits?: Record<string, number>) => Promise<{ key: string; keyId: string; subject: string }>;
  /** Another replica on the same stores, once it is ready; `live`: one that never gets so. */
  addReplica: (env?: Record<string, string>, until?: 'ready' | 'live') => Promise<Replica>;
}

/** The service as it is deployed, with one real HTTP server in place of all services behind it. */
export async function startGateway(env: Record<string, string> = {}): Promise<TestGateway> {
  const database = await createTestDatabase(migrations);
  const redis = await testRedis();
  const upstream = await startUpstream();
  const lines: string[] = [];
  const logger = loggerTo(lines);
  const variables = {
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    HEALTH_PORT: '0',
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    SERVICE_KEY: testServiceKey('gateway'),
    SERVICE_PUBLIC_KEYS: testPublicKeys,
    ADMIN_TOKEN: adminToken,
    API_KEY_PEPPERS: `1:${randomBytes(32).toString('base64')}`,
    SCENES_FILE: join(root, 'config/scenes.json'),
    LOG_LEVEL: 'debug',
    // Gateway and services share this process, which may be too busy to answer Redis in time.
    REDIS_TIMEOUT_MS: '60000',
    CONNECT_TIMEOUT_MS: '60000',
    UPSTREAM_READ_MS: '120000',
    ...Object.fromEntries(
      ['TASKS', 'IMAGES', 'RESULTS', 'QUOTA', 'NOTIFY'].map((name) => [`${name}_URL`, upstream.url]),
    ),
    ...env,
  };
  const first = await startReplica(variables, logger);
  const others: Replica[] = [];
  const admin: TestGateway['admin'] = async (method, path, body, more = {}) => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json', ...more };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await exchange(first.adminUrl + path, method, { ...sent, headers });
    adminContract.assert({ method, path, requestHeaders: headers, requestText: sent.body, ...answer });
    return answer;
  };
  return {
    ...first,
    database,
    upstream,
    redis: redis.redis,
    log: () => lines.join(''),
    env: variables,
    admin,
    newKey: async (limits) => {
      const { body } = await admin('POST', '/admin/v1/keys', { name: 'test' });
      const made = { key: String(body['key']), keyId: String(body['key_id']), subject: String(body['subject']) };
      if (limits) await admin('PUT', `/admin/v1/subjects/${made.subject}/limits`, limits);
      return made;
    },
    addReplica: async (more = {}, state = 'ready') => {
      const replica = await startReplica({ ...variables, ...more }, logger, state);
      others.push(replica);
      return replica;
    },
    stop: async () => {
      await upstream.close();
      await Promise.all([first, ...others].map((replica) => replica.stop()));
      await redis.close();
      await database.drop();
    },
  };
}

async function startReplica(variables: Record<string, string>, logger: Logger, state = 'ready'): Promise<Replica> {
  const config = hasten(readConfig(variables), constants, variables);
  const service = await createService(config, { logger, onFatal: (error) => logger.fatal(error) });
  await service.start();
  const address = (port: number) => `http://127.0.0.1:${port}`;
  const healthUrl = address(service.healthPort);
  await until(async () => (await fetch(`${healthUrl}/health/${state}`)).ok);
  return {
    url: address(service.port),
    adminUrl: address(service.adminPort),
    healthUrl,
    stop: async () => {
      for (const phase of service.stopPhases) await phase.stop();
    },
  };
}

function loggerTo(lines: string[]): Logger {
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  return createLogger('gateway-test', 'debug', sink);
}

export async function exchange(url: string, method = 'GET', init: RequestInit = {}): Promise<Answer> {
  const reply = await fetch(url, { ...init, method });
  const text = await reply.text();
  const isJson = (reply.headers.get('content-type') ?? '').includes('json') && text !== '';
  const body = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: reply.status, headers: reply.headers, text, body };
}

/** Keeps what replicas of this process know about keys fresh, until mocks are restored. */
export function stopKeyCacheAging(): void {
  const now = performance.now();
  jest.spyOn(performance, 'now').mockReturnValue(now);
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Status, code and reason of a refusal. */
export function refusal({ status, body }: Answer): unknown[] {
  return [status, body['code'], (body['details'] as { reason?: string } | undefined)?.reason];
}
