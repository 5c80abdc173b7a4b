import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startScriptedBackend } from '@vision/shared/testing/scripted-backend';
import type { ScriptedBackend } from '@vision/shared/testing/scripted-backend';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { startLyingS3 } from '@vision/objects/testing/lying-s3';
import type { LyingS3 } from '@vision/objects/testing/lying-s3';
import { runningPid } from '../../../deploy/local/background.ts';
import { clean } from '../../../deploy/local/clean.ts';
import { stopAll } from '../../../deploy/local/down.ts';
import type { Infrastructure } from '../../../deploy/local/infrastructure.ts';
import { ensureKafka } from '../../../deploy/local/kafka.ts';
import { ensureRedis } from '../../../deploy/local/redis.ts';
import { ensureS3 } from '../../../deploy/local/s3.ts';
import { loadSecrets } from '../../../deploy/local/secrets.ts';
import type { Secrets } from '../../../deploy/local/secrets.ts';
import { portOf } from '../../../deploy/local/settings.ts';
import type { S3Keys, Settings } from '../../../deploy/local/settings.ts';
import { testSettings } from '../../../deploy/local/test-copy.ts';
import { bringUpForRun } from '../../../deploy/local/up.ts';
import { startBackends } from './backends.ts';
import type { Backends } from './backends.ts';
import { startMqttBroker } from './broker.ts';
import type { MqttBroker } from './broker.ts';
import { makeDisks } from './disks.ts';
import type { Disk, DiskOwner } from './disks.ts';
import { createDatabase } from './database.ts';
import { receiveExported } from './exported.ts';
import type { Exported } from './exported.ts';
import type { Database } from './database.ts';
import { portBlocks } from './ports.ts';
import { startPlayer } from './player.ts';
import type { Player } from './player.ts';
import { listenersOf, startLinks } from './links.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import type { Replica, Store } from './replicas.ts';
import { startServices } from './system.ts';
import type { System, SystemOptions } from './system.ts';
import { findFakeTime, startStreams } from './streams.ts';
import type { Streams } from './streams.ts';

/**
 * The whole system: two processes of each service, each with a fault proxy of its own before every store; behind the
 * address of the inference backend real workers on real streams and files, and a backend that fails as a script says.
 */
export interface World {
  settings: Settings;
  /** As the copy was made; a rotation replaces some of them. */
  secrets: Secrets;
  baseUrl: string;
  adminUrl: string;
  adminToken: string;
  replicas: readonly Replica[];
  /** The release of the second process of each service, where it is not that of this code. */
  older: string | undefined;
  /** The brokers, past all proxies. */
  brokers: string[];
  /** Names of the brokers beside the first. */
  followers: readonly string[];
  redisUrl: string;
  s3: { endpoint: string; region: string; bucket: string; accessKey: string; secretKey: string };
  database: Database;
  /** Disks that can be full; none where they cannot be mounted. */
  disks: ReadonlyMap<DiskOwner, Disk>;
  scripted: ScriptedBackend;
  player: Player;
  backends: Backends;
  /** Jobs that the scripted backend was made to forget. */
  forgotten: Set<string>;
  streams: Streams;
  /** Of webhooks of all callers. */
  receiver: Receiver;
  /** Of all callers; undefined where there is none. */
  mqtt: MqttBroker | undefined;
  /** Part of every address of a stream or a receiver; it may be seen nowhere. */
  canary: string;
  /** What the services export, searched for secrets. */
  exported: Exported;
  /** Before the inference backend. */
  inference: FaultProxy;
  /** Between those proxies and the object store. */
  lyingS3: LyingS3;
  /** Every proxy before a store. */
  linksTo: (store: Store) => FaultProxy[];
  killStore: (store: Store) => void;
  /** Kills one of the brokers beside the first; `ensureStore` starts it again. */
  killFollower: (name: string) => void;
  signalStore: (store: Store, signal: NodeJS.Signals) => void;
  /** Starts the store unless it runs. */
  ensureStore: (store: Store) => Promise<void>;
  close: () => Promise<void>;
}

export interface WorldOptions extends Pick<SystemOptions, 'env' | 'secretsOf' | 'asksReadiness' | 'older'> {
  /** Of this copy, below that of the checkout. */
  folder: string;
  random: () => number;
  /** Kafka brokers; one when absent. With three, each record has three copies. */
  brokers?: number;
  /** Further pairs of keys that the S3 server takes. */
  s3Keys?: readonly S3Keys[];
  /** Done when the stores run and before the services do. */
  prepare?: (infrastructure: Infrastructure) => Promise<void>;
}

/** Room for whatever the clients send: it is asked about and claimed for each create, and images of tracks are made. */
const PLENTY = { stream: 1_000, object: 1_000 };
const ROOM = { free: PLENTY, places: PLENTY, features: ['snapshots'] };

export async function startWorld(base: Settings, options: WorldOptions): Promise<World> {
  const { random, brokers = 1 } = options;
  const folder = { ...base, localDir: join(base.localDir, options.folder) };
  await clean(folder);
  const copy = await testSettings(folder, {});
  const secrets = loadSecrets(copy);
  const disks = makeDisks(copy);
  const fakeTime = findFakeTime();
  const database = await createDatabase({ settings: copy, secrets, random, fakeTime });
  await database.ensure();
  const s3 = await startLyingS3(portOf(copy, 's3'));
  const links = await startLinks(copy, { database, s3Port: s3.port, brokers }, random);
  const settings: Settings = {
    ...copy,
    kafka: {
      listeners: listenersOf(copy, links, 0),
      properties: brokers === 1 ? brokerTime : { ...brokerTime, ...replicated },
      followers: portBlocks.moreBrokers
        .slice(0, brokers - 1)
        .map((block, index) => ({ port: copy.portBase + block, listeners: listenersOf(copy, links, index + 1) })),
    },
    s3Keys: [{ accessKey: secrets.S3_ACCESS_KEY, secretKey: secrets.S3_SECRET_KEY }, ...(options.s3Keys ?? [])],
  };
  const infrastructure = await bringUpForRun(settings);
  await options.prepare?.(infrastructure);
  const scripted = await startScriptedBackend();
  scripted.capacity = () => ROOM;
  const canary = `canary-${randomUUID()}`;
  const exported = await receiveExported();
  exported.forbid(canary, 'part of a stream address, or the name of a file');
  const streams = await startStreams(settings);
  const receiver = await startReceiver(random);
  const mqtt = await startMqttBroker(settings, random);
  const system: System = await startServices({
    settings,
    infrastructure,
    links,
    env: { ...exported.env, ...receiver.env, ...options.env },
    diskOf: (name) =>
      (name === 'inference-1' ? disks.get('work') : name === 'images-1' ? disks.get('spool') : undefined)?.directory,
    secretsOf: options.secretsOf,
    asksReadiness: options.asksReadiness,
    older: options.older,
    backendOf: (real) => startBackends(scripted.url, real),
    random,
    fakeTime,
  });
  const brokerAddresses = infrastructure.brokers.split(',');
  const player = startPlayer(scripted, brokerAddresses);
  const signalStore = (store: Store, signal: NodeJS.Signals) => {
    if (store === 'postgres') database.kill(signal);
    else sendTo(settings, store, signal);
  };
  return {
    settings,
    secrets,
    baseUrl: system.baseUrl,
    adminUrl: system.adminUrl,
    adminToken: secrets.ADMIN_TOKEN,
    replicas: system.replicas,
    older: options.older?.version,
    brokers: brokerAddresses,
    followers: portBlocks.moreBrokers.slice(0, brokers - 1).map((_, index) => `kafka-${index + 2}`),
    redisUrl: infrastructure.redisUrl,
    s3: infrastructure.objectStore,
    database,
    disks,
    scripted,
    player,
    backends: system.backends,
    forgotten: new Set(),
    streams,
    receiver,
    mqtt,
    canary,
    exported,
    inference: system.inference,
    lyingS3: s3,
    linksTo: (store) => [...links.values()].flatMap((own) => own.get(store) ?? []),
    killStore: (store) => signalStore(store, store === 'postgres' ? 'SIGQUIT' : 'SIGKILL'),
    killFollower: (name) => sendTo(settings, name, 'SIGKILL'),
    signalStore,
    ensureStore: (store) => ensureStore(store, { settings, secrets, database }),
    close: async () => {
      await system.close();
      await player.stop();
      const proxies = [...links.values()].flatMap((own) => [...own.values()]);
      await Promise.all([
        scripted.close(),
        streams.close(),
        receiver.close(),
        mqtt?.close(),
        database.close(),
        exported.close(),
        s3.close(),
        ...proxies.map((proxy) => proxy.close()),
      ]);
      await stopAll(settings);
      for (const disk of disks.values()) disk.remove();
    },
  };
}

/** The broker stamps every record with its own clock, so a worker whose clock is wrong changes no order. */
const brokerTime = { 'log.message.timestamp.type': 'LogAppendTime' };

/** Three copies of each record, two of them before it is acknowledged; a broker that is gone is noticed in seconds. */
const replicated = {
  'default.replication.factor': '3',
  'min.insync.replicas': '2',
  'offsets.topic.replication.factor': '3',
  'broker.heartbeat.interval.ms': '1000',
  'broker.session.timeout.ms': '4000',
  'replica.lag.time.max.ms': '5000',
};

interface Parts {
  settings: Settings;
  secrets: Secrets;
  database: Database;
}

async function ensureStore(store: Store, { settings, secrets, database }: Parts): Promise<void> {
  switch (store) {
    case 'postgres':
      return database.ensure();
    case 'kafka':
      return ensureKafka(settings);
    case 's3':
      return ensureS3(settings, secrets);
    case 'redis':
      return ensureRedis(settings);
  }
}

function sendTo(settings: Settings, program: string, signal: NodeJS.Signals): void {
  const pid = runningPid(settings, program);
  if (pid !== undefined) process.kill(pid, signal);
}
