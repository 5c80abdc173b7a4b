import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { deadLetterKeepers, topicNames } from '@vision/contracts/dead-letters';
import { consumerGroups, dlqTopic, topics } from '@vision/contracts/topics';
import { topicsSetting, wantedTopics } from '@vision/kafka/topics-config';
import { serviceNames } from '../local/service-environment.ts';
import { root } from '../local/settings.ts';
import { chartDir } from './examples.ts';
import { keysOfSecrets, nameOf, parseManifests, podOf } from './manifests.ts';
import type { Manifest } from './manifests.ts';
import { keptManifests } from './renders.ts';

/** Any field of an object, by path; undefined where there is none. */
type Tree = { [key: string]: Tree } & { [index: number]: Tree };

const read = (path: string) => readFileSync(path, 'utf8');
const objects = globSync(join(chartDir, 'examples/operators/*.yaml')).flatMap((file) => parseManifests(read(file)));
const rendered = keptManifests('operators');
const ofKind = (kind: string) => objects.filter((one) => one.kind === kind);
const byName = (kind: string) => new Map(ofKind(kind).map((one) => [one.metadata.name, one.spec ?? {}]));
const sorted = (names: Iterable<string>) => [...names].sort();

test('every object of the operators is there once, in a namespace', () => {
  const names = objects.map(nameOf);
  expect(sorted(new Set(names))).toEqual(sorted(names));
  expect(objects.filter(({ metadata }) => !('namespace' in metadata)).map(nameOf)).toEqual([]);
});

test('what the chart reads from Secrets is what the operators and the examples write, nothing more or less', () => {
  const made = new Map<string, readonly string[]>([
    ...ofKind('Secret').map((one) => [one.metadata.name, keysOf(one)] as const),
    // Strimzi: a Secret for each user, and the authority of the brokers. CloudNativePG: the authority of the cluster.
    ...ofKind('KafkaUser').map(({ metadata }) => [metadata.name, ['user.crt', 'user.key']] as const),
    ...ofKind('Kafka').map(({ metadata }) => [`${metadata.name}-cluster-ca-cert`, ['ca.crt']] as const),
    ...ofKind('Cluster').map(({ metadata }) => [`${metadata.name}-ca`, ['ca.crt']] as const),
    ...rendered.filter(({ kind }) => kind === 'Secret').map((one) => [one.metadata.name, keysOf(one)] as const),
  ]);
  const wanted = keysOfSecrets(rendered);
  const missing = [...wanted].filter(
    ([reference]) => !made.get(reference.split('/')[0] ?? '')?.includes(keyOf(reference)),
  );
  expect(missing).toEqual([]);
  const used = new Set([...wanted.keys()].map((reference) => reference.split('/')[0] ?? ''));
  expect(sorted(made.keys())).toEqual(sorted(used));
});

test('every database has its role and its password, under the name and at the address that the chart gives', () => {
  const [cluster] = ofKind('Cluster');
  const { managed, postgresql } = cluster?.spec as {
    managed: { roles: { name: string; passwordSecret: { name: string } }[] };
    postgresql: { parameters: Record<string, string> };
  };
  const secrets = new Map(ofKind('Secret').map((one) => [one.metadata.name, one as unknown as Tree]));
  const databases = [...byName('Database').values()].map(({ name, owner }) => ({ name, owner }));
  for (const service of serviceNames) {
    const url = new URL(variable(service, 'DATABASE_URL'));
    expect(url.host).toBe(`${cluster?.metadata.name ?? ''}-rw.data:5432`);
    expect(databases).toContainEqual({ name: url.pathname.slice(1), owner: url.username });
    const role = managed.roles.find(({ name }) => name === url.username);
    const secret = secrets.get(role?.passwordSecret.name ?? '');
    expect([secret?.['type'], secret?.['stringData']?.['username']]).toEqual([
      'kubernetes.io/basic-auth',
      url.username,
    ]);
  }
  expect(databases).toHaveLength(serviceNames.length);
  const { database } = parse(read(join(chartDir, 'examples/operators.yaml'))) as {
    database: { maxConnections: number };
  };
  expect(postgresql.parameters['max_connections']).toBe(database.maxConnections.toString());
});

test('brokers listen where the chart looks for them, with certificates of clients', () => {
  const [kafka] = ofKind('Kafka');
  const { listeners } = (kafka?.spec as { kafka: { listeners: Record<string, unknown>[] } }).kafka;
  const brokers = variable('tasks', 'KAFKA_BROKERS');
  const [, host, port] = /^(.+)-kafka-bootstrap\.data:(\d+)$/.exec(brokers) ?? [];
  expect(host).toBe(kafka?.metadata.name);
  expect(listeners).toContainEqual(
    expect.objectContaining({ port: Number(port), tls: true, authentication: { type: 'tls' } }),
  );
});

test('topics are as the chart declares them', () => {
  const wanted = wantedTopics(topicsSetting.parse(variable('tasks', 'TOPICS'))).map(
    ({ name, partitions, replicationFactor, retentionMs, minInsyncReplicas, minMessageBytes }) => ({
      name,
      partitions,
      replicationFactor,
      retentionMs,
      minInsyncReplicas,
      minMessageBytes,
    }),
  );
  const declared = [...byName('KafkaTopic')].map(([name, { partitions, replicas, config }]) => ({
    name,
    partitions,
    replicationFactor: replicas,
    retentionMs: (config as Record<string, unknown>)['retention.ms'],
    minInsyncReplicas: (config as Record<string, unknown>)['min.insync.replicas'],
    minMessageBytes: (config as Record<string, unknown>)['max.message.bytes'],
  }));
  expect(declared.sort(byTheirName)).toEqual(wanted.sort(byTheirName));
});

test('each service has exactly the rights on topics and groups that it uses', () => {
  const { operations } = JSON.parse(read(join(root, 'docs/asyncapi.json'))) as { operations: Record<string, object> };
  const uses = Object.keys(operations).map((name) => /^(\w+)\.(send|receive)\.(.+)$/.exec(name) ?? []);
  for (const service of serviceNames.filter((name) => name !== 'gateway')) {
    const own = uses.filter(([, who]) => who === service);
    const received = own.filter(([, , what]) => what === 'receive').map(([, , , topic = '']) => topic);
    const groups = Object.entries(consumerGroups).find(([name]) => name === service)?.[1] ?? [];
    expect({ service, may: sorted(rightsOf(`vision-${service}`)) }).toEqual({
      service,
      may: sorted([
        ...own.filter(([, , what]) => what === 'send').map(([, , , topic = '']) => `Write topic ${topic}`),
        ...received.flatMap((topic) => [`Read topic ${topic}`, `Write topic ${dlqTopic(topic)}`]),
        ...groups.map(({ group }) => `Read group ${group}`),
        ...rightsOfKeeper(service),
      ]),
    });
  }
});

/** The rights needed to read dead letters and to publish them again. */
function rightsOfKeeper(service: string): string[] {
  const kept = topicNames.filter((name) => deadLetterKeepers[name] === service).map((name) => topics[name]);
  if (kept.length === 0) return [];
  // The service publishes the other topics anyway.
  const foreign = kept.filter((topic) => [topics.frames, topics.jobs, topics.rules].some((other) => other === topic));
  return [
    ...kept.map((topic) => `Read topic ${dlqTopic(topic)}`),
    ...foreign.map((topic) => `Write topic ${topic}`),
    'Read group dlq-',
    'Delete group dlq-',
  ];
}

/** The key of a reference `secret/key`: keys of a Secret cannot contain slashes. */
const keyOf = (reference: string) => reference.slice(reference.indexOf('/') + 1);

function keysOf(secret: Manifest): string[] {
  const { stringData = {}, data = {} } = secret as { stringData?: object; data?: object };
  return Object.keys({ ...stringData, ...data });
}

/** The value that a Deployment gives a variable. */
function variable(service: string, name: string): string {
  const deployment = rendered.find((one) => nameOf(one) === `Deployment/vision-${service}`);
  const found = deployment && podOf(deployment)?.containers[0]?.env?.find((one) => one.name === name);
  return found?.value ?? '';
}

/** Rights of a user, without those to describe resources. */
function rightsOf(user: string): string[] {
  const { authorization } = (byName('KafkaUser').get(user) ?? {}) as {
    authorization?: { acls: { resource: { type: string; name: string }; operations: string[] }[] };
  };
  return (authorization?.acls ?? []).flatMap(({ resource, operations }) =>
    operations
      .filter((operation) => operation !== 'Describe')
      .map((operation) => `${operation} ${resource.type} ${resource.name}`),
  );
}

const byTheirName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
