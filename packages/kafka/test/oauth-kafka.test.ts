import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { loadConfig } from '@vision/shared/config';
import { createLogger } from '@vision/shared/logger';
import type { Logger } from '@vision/shared/logger';
import { away } from '@vision/shared/start/fault';
import { until } from '@vision/shared/testing/until';
import { applyTopics } from '../src/apply-topics.ts';
import { checkKafka } from '../src/check-kafka.ts';
import { kafkaConfig, kafkaConnection } from '../src/kafka-config.ts';
import { createKafka } from '../src/kafka.ts';
import type { KafkaClient, KafkaConnection } from '../src/kafka.ts';
import { fetchToken, TOKEN_MS } from '../src/oauth/fetch-token.ts';
import { LoginError } from '../src/oauth/login-error.ts';
import type { OauthLogin } from '../src/oauth/oauth-mechanism.ts';
import { createTokenSource } from '../src/oauth/token-source.ts';
import type { TokenSource } from '../src/oauth/token-source.ts';
import { createProducer } from '../src/producer.ts';
import { startSecureKafka } from './support/secure-kafka.ts';
import type { SecureKafka } from './support/secure-kafka.ts';
import { replyWith, startTokenServer, unsignedToken } from './support/token-server.ts';
import type { TokenServer } from './support/token-server.ts';

let kafka: SecureKafka;
let server: TokenServer;

beforeAll(async () => {
  process.env['VISION_QUIET'] = '1';
  kafka = await startSecureKafka();
  server = await startTokenServer(kafka.certificates);
}, 600_000);

beforeEach(() => {
  server.requests.length = 0;
});

afterAll(async () => {
  server.stop();
  await kafka.stop();
});

/** Responds with a token of that lifetime; the response may state another one. */
const giving = (lifeMs: number) => (res: Parameters<TokenServer['answer']>[0]) =>
  replyWith(200, { access_token: unsignedToken(lifeMs, String(server.requests.length)), expires_in: 300 })(res);

const environment = () => ({
  KAFKA_BROKERS: kafka.oauth,
  KAFKA_TLS: 'true',
  KAFKA_CA_FILE: kafka.certificates.ca,
  KAFKA_SASL_MECHANISM: 'oauthbearer',
  KAFKA_OAUTH_TOKEN_URL: server.url,
  KAFKA_OAUTH_CLIENT_ID: 'vision',
  KAFKA_OAUTH_CLIENT_SECRET: 'secret',
  KAFKA_OAUTH_CA_FILE: kafka.certificates.ca,
});

const connectionOf = (env: Record<string, string>): KafkaConnection =>
  kafkaConnection(loadConfig(z.object(kafkaConfig), env));

const things = { name: 'things', partitions: 1, addPartitions: true, retentionMs: 3_600_000 };

test('topics are made and records published with a token of the token server', async () => {
  server.answer = giving(300_000);
  const connection = connectionOf(environment());
  expect(await checkKafka(connection, [])).toBeUndefined();
  const client = createKafka({ ...connection, clientId: 'test', logger: createLogger('test', 'silent') });
  await applyTopics(client, [things]);
  const producer = createProducer(client);
  await producer.publishRaw([{ topic: 'things', value: 'one' }]);
  await producer.stop();
  expect(server.requests).toHaveLength(1);
});

test('the start check and the service of one configuration share their token', async () => {
  server.answer = giving(300_000);
  const config = loadConfig(z.object(kafkaConfig), environment());
  expect(await checkKafka(kafkaConnection(config), [])).toBeUndefined();
  expect(await checkKafka(kafkaConnection(config), [])).toBeUndefined();
  expect(server.requests).toHaveLength(1);
});

test('a token that the brokers refuse is one sentence, and the next login gets a new one', async () => {
  server.answer = giving(-1_000);
  const connection = connectionOf(environment());
  expect(await checkKafka(connection, [])).toMatchObject({
    kind: 'wrong',
    sentence: expect.stringMatching(/^The brokers refuse the token of KAFKA_OAUTH_CLIENT_ID=vision \(.+invalid_token/),
  });
  server.answer = giving(300_000);
  expect(await checkKafka(connection, [])).toBeUndefined();
});

test('a token server that is down, and brokers without the mechanism, are one sentence each', async () => {
  server.answer = replyWith(503, '');
  expect(await checkKafka(connectionOf(environment()), [])).toEqual({
    kind: 'away',
    sentence: `KAFKA_OAUTH_TOKEN_URL=${server.url} answers with status 503`,
  });
  server.answer = giving(300_000);
  expect(await checkKafka(connectionOf({ ...environment(), KAFKA_BROKERS: kafka.login }), [])).toMatchObject({
    kind: 'wrong',
    sentence: expect.stringContaining('The brokers do not offer KAFKA_SASL_MECHANISM=oauthbearer'),
  });
});

/** For tokens that live for some seconds. */
const REAUTHENTICATE_MS = 1_000;

const loginBy = (tokens: TokenSource): OauthLogin => ({
  mechanism: 'oauthbearer',
  clientId: 'vision',
  tokens,
  reauthenticateMs: REAUTHENTICATE_MS,
});

/** The connection of a service whose tokens live for some seconds. */
function shortLived(lifeMs: number): KafkaConnection {
  server.answer = giving(lifeMs);
  const { ca } = kafka.certificates;
  const client = { tokenUrl: server.url, clientId: 'vision', clientSecret: 'secret', caFile: ca };
  const tokens = createTokenSource(
    async () => ({ ...(await fetchToken(client, TOKEN_MS)), lifeMs }),
    2 * REAUTHENTICATE_MS,
  );
  return { ...connectionOf(environment()), login: loginBy(tokens) };
}

/** Records log lines of level WARN and above. */
function recording(lines: string[]): Logger {
  const logger = createLogger('test', 'silent');
  const note = (_facts: unknown, message: string) => void lines.push(message);
  return Object.assign(Object.create(logger) as Logger, { warn: note, error: note });
}

async function consume({ kafka: library }: KafkaClient, topic: string) {
  const seen = new Set<string>();
  const crashes: { error: Error; restart: boolean }[] = [];
  const consumer = library.consumer({ groupId: topic, maxWaitTimeInMs: 200, heartbeatInterval: 1_000 });
  consumer.on('consumer.crash', ({ payload }) => void crashes.push(payload));
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({ eachMessage: async ({ message }) => void seen.add(message.value?.toString() ?? '') });
  return { consumer, seen, crashes };
}

const isOver = (crashes: { restart: boolean }[]) => crashes.some(({ restart }) => !restart);

test('a consumer and a producer go on with the same connections when their tokens end', async () => {
  const warned: string[] = [];
  const connection = shortLived(8_000);
  const options = { ...connection, clientId: 'test', logger: recording(warned) };
  const client = createKafka(options);
  await applyTopics(client, [{ ...things, name: 'lasting' }]);
  const { consumer, seen, crashes } = await consume(client, 'lasting');
  const producer = createProducer(client);
  await producer.publishRaw([{ topic: 'lasting', value: 'first' }]);
  await until(() => seen.has('first'));
  // A new topic has no leader, and a new group no coordinator, for a moment.
  warned.length = 0;
  crashes.length = 0;
  let published = 0;
  await until(async () => {
    published += 1;
    await producer.publishRaw([{ topic: 'lasting', value: String(published) }]);
    return server.requests.length > 3;
  });
  await producer.publishRaw([{ topic: 'lasting', value: 'last' }]);
  await until(() => seen.has('last'));
  await producer.stop();
  await consumer.disconnect();
  expect(seen.size).toBe(published + 2);
  expect({ crashes, warned }).toEqual({ crashes: [], warned: [] });
});

test('a consumer and a producer outlive a token that cannot be renewed', async () => {
  const lifeMs = 8_000;
  const options = { ...shortLived(lifeMs), clientId: 'test', logger: createLogger('test', 'silent') };
  const client = createKafka(options);
  await applyTopics(client, [{ ...things, name: 'outage' }]);
  const { consumer, seen, crashes } = await consume(client, 'outage');
  const producer = createProducer(client);
  const publish = (value: string) => producer.publishRaw([{ topic: 'outage', value }]);
  await publish('before');
  await until(() => seen.has('before'));
  server.answer = replyWith(503, '');
  const endsBy = performance.now() + lifeMs;
  let failures = 0;
  await until(async () => {
    await publish('during').catch(() => (failures += 1));
    return failures > 0 && performance.now() > endsBy;
  });
  server.answer = giving(lifeMs);
  await until(() => publish('after').then(() => true));
  await until(() => seen.has('after') || isOver(crashes));
  await producer.stop();
  await consumer.disconnect();
  expect(isOver(crashes)).toBe(false);
});

test('a consumer goes on when there is no token for one of its connections for a while', async () => {
  server.answer = giving(300_000);
  const logger = createLogger('test', 'silent');
  const other = createKafka({ ...connectionOf(environment()), clientId: 'test', logger });
  await applyTopics(other, [{ ...things, name: 'halfway' }]);
  let logins = 0;
  let isAway = true;
  // The first connection is that of the group, the second one fetches.
  const get = async () => {
    logins += 1;
    if (logins > 2 && isAway) throw new LoginError(away('there is no token'));
    return unsignedToken(logins === 1 ? 4_000 : 300_000);
  };
  const login = loginBy({ get, discard: () => undefined });
  const options = { ...connectionOf(environment()), login, clientId: 'test', logger };
  const client = createKafka(options);
  const { consumer, seen, crashes } = await consume(client, 'halfway');
  await until(() => logins > 6 || isOver(crashes));
  isAway = false;
  const producer = createProducer(other);
  await producer.publishRaw([{ topic: 'halfway', value: 'after' }]);
  await until(() => seen.has('after') || isOver(crashes));
  await producer.stop();
  await consumer.disconnect();
  expect(isOver(crashes)).toBe(false);
});
