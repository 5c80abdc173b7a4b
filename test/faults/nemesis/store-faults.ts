import { setTimeout as delay } from 'node:timers/promises';
import { topics } from '@vision/contracts/topics';
import { createLogger } from '@vision/shared/logger';
import { createKafka } from '@vision/kafka/kafka';
import type { FaultProxy, Toxic } from '@vision/shared/testing/fault-proxy';
import { stores } from '../world/replicas.ts';
import type { Store } from '../world/replicas.ts';
import { aMoment, storeOf } from './fault.ts';
import type { Fault } from './fault.ts';

/** Longer than any lease, ceiling or time after which a member of a group is given up. */
const LONG_MS = 12_000;

/** Those of Redis are small. */
const SHORT_REPLY_BYTES = { postgres: 700, redis: 60, s3: 700 };

/** Something happens to what all processes exchange with the store. */
const toxic = (store: Store, title: string, what: Toxic, lasts = aMoment): Fault => ({
  name: `${store}: ${title}`,
  holds: [storeOf(store)],
  strike: async ({ world, random }) => {
    const links = world.linksTo(store);
    const hits = () => sum(links.map((link) => link.hits()));
    const before = hits();
    for (const link of links) link.set(what, 'store');
    await delay(lasts(random));
    for (const link of links) link.set({ kind: 'none' }, 'store');
    return hits() > before;
  },
});

const killStore = (store: Store): Fault => ({
  name: `${store}: killed and restarted`,
  holds: [storeOf(store)],
  strike: async ({ world, random }) => {
    world.killStore(store);
    await delay(aMoment(random));
    await world.ensureStore(store);
    return true;
  },
});

const freezeStore = (store: Store): Fault => ({
  name: `${store}: frozen`,
  holds: [storeOf(store)],
  strike: async ({ world, random }) => {
    world.signalStore(store, 'SIGSTOP');
    await delay(aMoment(random));
    world.signalStore(store, 'SIGCONT');
    return true;
  },
});

/** The server that takes over lacks no commit; the one before it never says that it is gone. */
const moveDatabase: Fault = {
  name: 'postgres: comes back elsewhere while open connections hang',
  holds: [storeOf('postgres')],
  strike: async ({ world }) => {
    await world.database.addStandby();
    for (const link of world.linksTo('postgres')) link.set({ kind: 'dead' }, 'store');
    await world.database.moveToStandby();
    for (const link of world.linksTo('postgres')) link.set({ kind: 'none' }, 'store');
    return true;
  },
};

/** A name that leads to the wrong server: it answers, a moment late, and takes no writes. */
const showStandby: Fault = {
  name: 'postgres: its name leads to a standby that answers reads',
  holds: [storeOf('postgres')],
  strike: async ({ world, random }) => {
    const links = world.linksTo('postgres');
    await world.database.addStandby();
    world.database.showStandby(true);
    for (const link of links) link.set({ kind: 'reset' }, 'store');
    for (const link of links) link.set({ kind: 'none' }, 'store');
    await delay(2_000 + aMoment(random));
    // Connections to the standby stay open: leaving them is up to the services.
    world.database.showStandby(false);
    return true;
  },
};

/** Commits that were sent wait, and take place all the same; what is locked for them stays locked. */
const stallStandby: Fault = {
  name: 'postgres: commits wait for a synchronous standby that stalls',
  holds: [storeOf('postgres')],
  strike: async ({ world, random }) => (await world.database.stallCommits(2_000 + random() * 6_000)) > 0,
};

/** Leases and due times are instants of this clock, which nobody promised to be right. */
const stepDatabaseClock = (hours: number): Fault => ({
  name: `postgres: clock ${hours > 0 ? 'an hour ahead' : 'an hour back'}`,
  holds: [storeOf('postgres')],
  strike: async ({ world, random }) => {
    const { clock } = world.database;
    if (!clock.canStep) return false;
    clock.step(hours);
    await delay(2_000 + aMoment(random));
    clock.step(0);
    await delay(1_000);
    return true;
  },
});

/** Keys of tasks move to other partitions while their frames are on the way. */
const morePartitions: Fault = {
  name: 'kafka: a topic gets more partitions',
  holds: [storeOf('kafka')],
  strike: async ({ world, random, note }) => {
    const { kafka } = createKafka({
      brokers: world.brokers,
      clientId: 'faults',
      logger: createLogger('faults', 'silent'),
    });
    const admin = kafka.admin();
    await admin.connect();
    try {
      const names = Object.values(topics);
      const topic = names[Math.floor(random() * names.length)] ?? topics.frames;
      const { topics: known } = await admin.fetchTopicMetadata({ topics: [topic] });
      const count = (known[0]?.partitions.length ?? 6) + 1;
      await admin.createPartitions({ topicPartitions: [{ topic, count }] });
      note(`${topic}: ${count}`);
      return true;
    } finally {
      await admin.disconnect();
    }
  },
};

const inference = (title: string, what: Toxic): Fault => ({
  name: `inference backend: ${title}`,
  holds: ['inference'],
  strike: ({ world, random }) => afflict(world.inference, what, aMoment(random)),
});

async function afflict(proxy: FaultProxy, what: Toxic, ms: number): Promise<boolean> {
  const before = proxy.hits();
  proxy.set(what);
  await delay(ms);
  proxy.set({ kind: 'none' });
  return proxy.hits() > before;
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/** A little more than a session asks of PostgreSQL (`openSession`): 5 s of silence and three questions of 2 s. */
const KEEPALIVE_MS = 12_000;

export const storeFaults: Fault[] = [
  ...(['postgres', 'redis', 's3'] as const).flatMap((store) => [
    toxic(store, 'connections reset', { kind: 'reset' }),
    toxic(store, 'black hole', { kind: 'black_hole' }),
    toxic(store, 'latency', { kind: 'latency', ms: 80, jitterMs: 120 }),
    toxic(store, 'replies cut short', { kind: 'cut_after', bytes: SHORT_REPLY_BYTES[store] }),
  ]),
  ...stores.map((store) => toxic(store, 'open connections dead', { kind: 'dead', serverNoticesMs: KEEPALIVE_MS })),
  toxic('postgres', 'reply to COMMIT lost', { kind: 'lose_commit_reply', probability: 0.3 }),
  toxic('postgres', 'COMMIT lost', { kind: 'lose_commit', probability: 0.3 }),
  toxic('kafka', 'connections reset', { kind: 'reset' }),
  toxic('kafka', 'latency', { kind: 'latency', ms: 80, jitterMs: 120 }),
  ...stores.map((store) => toxic(store, 'away for longer than any lease', { kind: 'black_hole' }, () => LONG_MS)),
  ...stores.map(killStore),
  ...stores.map(freezeStore),
  moveDatabase,
  showStandby,
  stallStandby,
  stepDatabaseClock(1),
  stepDatabaseClock(-1),
  morePartitions,
  inference('refused', { kind: 'refuse' }),
  inference('black hole', { kind: 'black_hole' }),
  inference('connections reset', { kind: 'reset' }),
];
