import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { copyFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ConfigResourceTypes } from 'kafkajs';
import { z } from 'zod';
import { ConfigError, loadConfig } from '@vision/shared/config';
import { createLogger } from '@vision/shared/logger';
import { createTestDatabase } from '@vision/shared/testing/postgres';
import { until } from '@vision/shared/testing/until';
import { applyTopics } from '../src/apply-topics.ts';
import { checkKafka } from '../src/check-kafka.ts';
import { kafkaConfig, kafkaConnection } from '../src/kafka-config.ts';
import { createConsumer } from '../src/consumer.ts';
import { createKafka } from '../src/kafka.ts';
import type { KafkaConnection } from '../src/kafka.ts';
import { positionEpochsMigration, positionsMigration } from '../src/positions.ts';
import { createProducer } from '../src/producer.ts';
import { on } from '../src/subscription.ts';
import { untilSettled } from '../src/testing/settled.ts';
import { changed, thingChanged, topic } from './support/events.ts';
import { startSecureKafka } from './support/secure-kafka.ts';
import type { SecureKafka } from './support/secure-kafka.ts';

let kafka: SecureKafka;

beforeAll(async () => {
  process.env['VISION_QUIET'] = '1';
  kafka = await startSecureKafka();
}, 600_000);

afterAll(async () => {
  await kafka.stop();
});

type Environment = Record<string, string>;

const connectionOf = (env: Environment): KafkaConnection => kafkaConnection(loadConfig(z.object(kafkaConfig), env));

const check = async (env: Environment) => checkKafka(connectionOf(env), []);

const authority = () => ({ KAFKA_TLS: 'true', KAFKA_CA_FILE: kafka.certificates.ca });

const login = (mechanism: string): Environment => ({
  ...authority(),
  KAFKA_BROKERS: kafka.login,
  KAFKA_SASL_MECHANISM: mechanism,
  KAFKA_USERNAME: kafka.user.name,
  KAFKA_PASSWORD: kafka.user.password,
});

const mutual = (): Environment => ({
  ...authority(),
  KAFKA_BROKERS: kafka.mutual,
  KAFKA_CERT_FILE: kafka.certificates.client.cert,
  KAFKA_KEY_FILE: kafka.certificates.client.key,
});

/** Publishes one record and gives how many the topic has then. */
async function publish(env: Environment): Promise<number> {
  const client = createKafka({ ...connectionOf(env), clientId: 'test', logger: createLogger('test', 'silent') });
  await applyTopics(client, [{ name: 'things', partitions: 1, addPartitions: true, retentionMs: 3_600_000 }]);
  const producer = createProducer(client);
  await producer.publishRaw([{ topic: 'things', value: 'one' }]);
  await producer.stop();
  const admin = client.kafka.admin();
  await admin.connect();
  const [end] = await admin.fetchTopicOffsets('things');
  await admin.disconnect();
  return Number(end?.high);
}

test.each(['plain', 'scram-sha-256', 'scram-sha-512'])(
  'events are published after a login by %s over TLS',
  async (mechanism) => {
    expect(await publish(login(mechanism))).toBeGreaterThan(0);
  },
);

test('events are published with a certificate of the client, whose renewal needs no restart', async () => {
  expect(await publish(mutual())).toBeGreaterThan(0);
  const paths = { cert: join(kafka.dir, 'mounted.crt'), key: join(kafka.dir, 'mounted.key') };
  const mount = ({ cert, key }: { cert: string; key: string }) => {
    copyFileSync(cert, paths.cert);
    copyFileSync(key, paths.key);
  };
  mount(kafka.strangers.client);
  const connection = connectionOf({ ...mutual(), KAFKA_CERT_FILE: paths.cert, KAFKA_KEY_FILE: paths.key });
  expect(await checkKafka(connection, [])).toMatchObject({ sentence: expect.stringContaining('KAFKA_CERT_FILE') });
  mount(kafka.certificates.client);
  expect(await checkKafka(connection, [])).toBeUndefined();
});

test.each(['plain', 'scram-sha-256'])(
  'a wrong password is one sentence that names the settings (%s)',
  async (mechanism) => {
    const fault = await check({ ...login(mechanism), KAFKA_PASSWORD: 'not-it' });
    expect(fault).toEqual({
      kind: 'wrong',
      sentence:
        `The brokers refuse the login of KAFKA_USERNAME=vision by KAFKA_SASL_MECHANISM=${mechanism}: ` +
        'KAFKA_PASSWORD is wrong, or they know no such user',
    });
  },
);

test('a certificate that is not trusted names the file of authorities', async () => {
  for (const ca of [kafka.strangers.ca, '']) {
    const fault = await check({ ...login('plain'), KAFKA_CA_FILE: ca });
    expect(fault).toMatchObject({
      kind: 'wrong',
      sentence: expect.stringContaining('KAFKA_CA_FILE has to hold its authority'),
    });
  }
});

test('a broker with the certificate of another name is refused', async () => {
  const port = Number(kafka.login.split(':')[1]);
  const elsewhere = createServer((socket) => {
    const broker = connect(port, '127.0.0.1');
    socket.on('error', () => broker.destroy()).pipe(broker);
    broker.on('error', () => socket.destroy()).pipe(socket);
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.2', resolve));
  const address = `127.0.0.2:${(elsewhere.address() as AddressInfo).port}`;
  const fault = await check({ ...login('plain'), KAFKA_BROKERS: address });
  elsewhere.close();
  expect(fault).toMatchObject({ sentence: expect.stringContaining('is not for the name in KAFKA_BROKERS') });
});

test('a missing login, missing TLS and a missing certificate of the client each name their setting', async () => {
  const without = { ...authority(), KAFKA_BROKERS: kafka.login };
  expect(await check(without)).toMatchObject({ sentence: expect.stringContaining('KAFKA_SASL_MECHANISM') });
  expect(await check({ KAFKA_BROKERS: kafka.login })).toMatchObject({
    sentence: expect.stringContaining('KAFKA_TLS=true'),
  });
  expect(await check({ ...authority(), KAFKA_BROKERS: kafka.mutual })).toMatchObject({
    sentence: expect.stringContaining('KAFKA_CERT_FILE'),
  });
});

test('TLS to a listener without it names KAFKA_TLS', async () => {
  expect(await check({ ...authority(), KAFKA_BROKERS: kafka.plaintext })).toMatchObject({
    sentence: expect.stringMatching(/KAFKA_TLS|KAFKA_BROKERS/),
  });
});

test('brokers that cannot be reached are named with their addresses', async () => {
  expect(await check({ KAFKA_BROKERS: '127.0.0.1:1' })).toEqual({
    kind: 'away',
    sentence: 'No broker of KAFKA_BROKERS=127.0.0.1:1 answers: ECONNREFUSED',
  });
});

test('settings that do not go together are refused before anything is asked', () => {
  const broker = { KAFKA_BROKERS: 'kafka:9092' };
  expect(() => connectionOf({ ...broker, KAFKA_CA_FILE: kafka.certificates.ca })).toThrow(/KAFKA_TLS=true/);
  expect(() => connectionOf({ ...broker, KAFKA_SASL_MECHANISM: 'plain' })).toThrow(/KAFKA_USERNAME and KAFKA_PASSWORD/);
  expect(() => connectionOf({ ...broker, KAFKA_PASSWORD: 'x' })).toThrow(ConfigError);
  expect(() => connectionOf({ ...mutual(), KAFKA_KEY_FILE: '' })).toThrow(/needed together/);
  expect(() => connectionOf({ ...broker, KAFKA_CA_FILE: '/nowhere' })).toThrow(/KAFKA_CA_FILE: .*ENOENT.*"\/nowhere"/);
  expect(() => connectionOf({ KAFKA_BROKERS: 'kafka' })).toThrow(/KAFKA_BROKERS: host:port/);
});

test('topics are created, grown and changed as declared, and else stay as they are', async () => {
  const logger = createLogger('test', 'silent');
  const client = createKafka({ ...connectionOf(login('plain')), clientId: 'test', logger, topicPrefix: 'apply.' });
  const wanted = { name: 'things', partitions: 2, addPartitions: true, retentionMs: 3_600_000, replicationFactor: 1 };
  const first = await applyTopics(client, [wanted], { check: true });
  expect(first).toEqual({ changes: ['apply.things is created with 2 partitions'], differences: [] });
  await applyTopics(client, [wanted]);
  expect(await applyTopics(client, [wanted])).toEqual({ changes: [], differences: [] });

  const grown = { ...wanted, partitions: 3, retentionMs: 7_200_000, minInsyncReplicas: 1 };
  const changes = ['apply.things gets 3 partitions instead of 2', 'apply.things gets retention.ms=7200000'];
  expect((await applyTopics(client, [grown], { check: true })).changes).toEqual(changes);
  expect((await applyTopics(client, [grown])).changes).toEqual(changes);
  // The broker that is asked learns of a change a moment after the controller has acknowledged it.
  await until(async () => (await applyTopics(client, [grown], { check: true })).changes.length === 0);
  expect(await applyTopics(client, [grown])).toEqual({ changes: [], differences: [] });

  const undeclared = { ...grown, partitions: 96, addPartitions: false };
  expect(await applyTopics(client, [undeclared])).toEqual({ changes: [], differences: [] });

  const smaller = await applyTopics(client, [{ ...grown, partitions: 1, replicationFactor: 3 }]);
  expect(smaller.differences).toEqual([
    'apply.things has 3 partitions, not 1: Kafka can only add partitions',
    'apply.things has 1 replicas, not 3: move its partitions with kafka-reassign-partitions',
  ]);
  expect(
    await checkKafka({ ...connectionOf(login('plain')), topicPrefix: 'apply.' }, [{ name: 'things', partitions: 4 }]),
  ).toEqual({
    kind: 'wrong',
    sentence: 'The topic apply.things has 3 partitions, and TOPICS asks for 4: run "visionctl topics apply"',
  });
  expect(await checkKafka(connectionOf(login('plain')), [{ name: 'absent' }])).toMatchObject({
    sentence: expect.stringContaining('The topic absent (TOPIC_PREFIX included) does not exist'),
  });
});

test('a change of a topic leaves the settings of others on it', async () => {
  const logger = createLogger('test', 'silent');
  const client = createKafka({ ...connectionOf(login('plain')), clientId: 'test', logger, topicPrefix: 'keep.' });
  const wanted = { name: 'things', partitions: 1, addPartitions: true, retentionMs: 3_600_000 };
  await applyTopics(client, [wanted]);
  const admin = client.kafka.admin();
  await admin.connect();
  const entries = [
    { name: 'retention.ms', value: '3600000' },
    { name: 'max.message.bytes', value: '2000000' },
  ];
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: 'keep.things', configEntries: entries }],
  });
  const untilRetention = async (retentionMs: string) => {
    const wantedNow = { 'max.message.bytes': '2000000', 'retention.ms': retentionMs };
    await until(async () => isDeepStrictEqual(await settings(), wantedNow));
  };
  const settings = async () => {
    const configNames = ['max.message.bytes', 'retention.ms'];
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: 'keep.things', configNames }],
    });
    return Object.fromEntries(
      resources[0]?.configEntries.map((entry) => [entry.configName, entry.configValue]) ?? [],
    ) as Record<string, string>;
  };
  await untilRetention('3600000');
  await applyTopics(client, [{ ...wanted, retentionMs: 7_200_000 }]);
  await untilRetention('7200000');
  await admin.disconnect();
});

test('a connection whose peer vanished without a reset is replaced after its first unanswered request', async () => {
  const { brokers, proxy } = kafka.proxied;
  const options = { brokers, clientId: 'test', logger: createLogger('test', 'silent'), topicPrefix: 'vanished.' };
  const things = { name: 'things', partitions: 1, addPartitions: true, retentionMs: 3_600_000 };
  await applyTopics(createKafka(options), [things]);
  const producer = createProducer(createKafka(options));
  await producer.publishRaw([{ topic: 'things', value: 'before' }]);
  proxy.set({ kind: 'dead' });
  proxy.set({ kind: 'none' });
  await producer.publishRaw([{ topic: 'things', value: 'after' }]);
  await producer.stop();
});

test('a consumer whose broker vanished without a reset reads on over a new connection', async () => {
  const { brokers, proxy } = kafka.proxied;
  const logger = createLogger('test', 'silent');
  const database = await createTestDatabase([positionsMigration, positionEpochsMigration]);
  const direct = createKafka({ brokers: [kafka.plaintext], clientId: 'test', logger, topicPrefix: 'reader.' });
  await applyTopics(direct, [{ name: topic, partitions: 1, addPartitions: true, retentionMs: 3_600_000 }]);
  const producer = createProducer(direct);
  const consumer = createConsumer({
    db: database.db,
    kafka: createKafka({ brokers, clientId: 'test', logger, topicPrefix: 'reader.' }),
    groupId: 'readers',
    subscriptions: [on(thingChanged, () => Promise.resolve())],
    onFatal: (error) => {
      throw error;
    },
  });
  consumer.start();
  const reads = async (version: number) => {
    const id = `event-${version}`;
    await producer.publish([{ ...changed('a', version), id }]);
    expect(await untilSettled(consumer, id)).toBe('handled');
  };
  await reads(1);
  proxy.set({ kind: 'dead' });
  proxy.set({ kind: 'none' });
  await reads(2);
  await Promise.all([consumer.stop(), producer.stop()]);
  await database.drop();
});
