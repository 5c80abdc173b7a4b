import { setTimeout as delay } from 'node:timers/promises';
import type { SubmitMode } from '@vision/shared/testing/scripted-backend';
import { until } from '@vision/shared/testing/until';
import { services, storesOf } from '../world/replicas.ts';
import type { Replica, Service, Store } from '../world/replicas.ts';
import { stepsOf } from '../world/steps.ts';
import type { World } from '../world/world.ts';
import { aMoment, PAST_LEASE_MS, storeOf } from './fault.ts';
import type { Fault } from './fault.ts';

const names = services.flatMap((service) => [`${service}-1`, `${service}-2`]);
export const processOf = (name: string) => `process ${name}`;
const replicaOf = ({ replicas }: World, name: string): Replica => {
  const found = replicas.find((replica) => replica.name === name);
  if (!found) throw new Error(`there is no ${name}`);
  return found;
};

const kill = (name: string): Fault => ({
  name: `${name}: kill -9`,
  holds: [processOf(name)],
  strike: async ({ world, random }) => {
    const replica = replicaOf(world, name);
    replica.signal('SIGKILL');
    await delay(aMoment(random));
    await replica.start();
    return true;
  },
});

const freeze = (name: string, title: string, duration: (random: () => number) => number): Fault => ({
  name: `${name}: ${title}`,
  holds: [processOf(name)],
  strike: async ({ world, random }) => {
    const replica = replicaOf(world, name);
    replica.signal('SIGSTOP');
    await delay(duration(random));
    replica.signal('SIGCONT');
    return true;
  },
});

const step = (name: string, hours: number): Fault => ({
  name: `${name}: clock ${hours > 0 ? 'an hour ahead' : 'an hour back'}`,
  holds: [processOf(name)],
  strike: async ({ world, random }) => {
    const { clock } = replicaOf(world, name);
    if (!clock.canStep) return false;
    clock.step(hours);
    await delay(2_000 + aMoment(random));
    clock.step(0);
    await delay(1_000);
    return true;
  },
});

/** A process stops at a step between two durable effects, wakes when its lease is long over, and goes on. */
const freezeAt = (service: Service, point: string): Fault => {
  const way = ways.find(({ leadsTo }) => leadsTo.test(point));
  return {
    name: `${service}: frozen past its lease at ${point}`,
    holds: [`step ${point}`, ...(way ? [way.holds] : [])],
    strike: async ({ world, random, hold }) => {
      const replica = replicaOf(world, `${service}-${random() < 0.5 ? 1 : 2}`);
      return hold(processOf(replica.name), async () => {
        way?.begin(world, replica);
        const isThere = await replica.trap.spring(point, 'SIGSTOP', WAIT_FOR_STEP_MS);
        way?.end(world, replica);
        if (!isThere) return false;
        await delay(PAST_LEASE_MS);
        replica.signal('SIGCONT');
        return true;
      });
    },
  };
};

/** What creates come to grief of: without it hardly any gets to the steps of being undone. */
export const ways = [
  { leadsTo: /^tasks\.submit\.refused/, ...submits('refuse') },
  {
    leadsTo: /^tasks\.rollback\.given-up/,
    holds: 'probes',
    begin: ({ streams }: World) => streams.hideProbed(true),
    end: ({ streams }: World) => streams.hideProbed(false),
  },
  { leadsTo: /^tasks\.(rollback|submit\.taken-back)/, ...submits('no_capacity') },
  {
    leadsTo: /^images\.(rollback_begun|effects_rolled_back|key_released)/,
    // Pictures that cannot be stored fail their call as a whole.
    holds: storeOf('s3'),
    begin: (_world: World, { links }: Replica) => links.get('s3')?.set({ kind: 'refuse' }),
    end: (_world: World, { links }: Replica) => links.get('s3')?.set({ kind: 'none' }),
  },
];

function submits(mode: SubmitMode) {
  return {
    holds: 'submits',
    begin: ({ scripted }: World) => (scripted.onSubmit = () => mode),
    end: ({ scripted }: World) => (scripted.onSubmit = () => 'accept'),
  };
}

/** Some steps are seldom: a real job has to end, or a call has to come to grief. */
const WAIT_FOR_STEP_MS = 25_000;
/** Inference asks S3 for whole videos only, and one of two workers gets each. */
const WAIT_FOR_USE_MS = 45_000;

/** One process loses one store, and nobody else does. */
const cutOff = (replica: string, store: Store, title: string, lasts: (random: () => number) => number): Fault => ({
  name: `${replica}: ${title} ${store}`,
  holds: [`link ${replica} ${store}`],
  strike: async ({ world, random }) => {
    const link = replicaOf(world, replica).links.get(store);
    if (!link) throw new Error(`${replica} does not use ${store}`);
    const before = link.hits();
    // What is asked may still arrive: that only the reply is missing is the harder half.
    link.set({ kind: random() < 0.5 ? 'black_hole' : 'deaf' });
    await until(() => link.hits() > before, { timeoutMs: WAIT_FOR_USE_MS }).catch(() => undefined);
    await delay(lasts(random));
    link.set({ kind: 'none' });
    return link.hits() > before;
  },
});

const pastLease = (random: () => number) => PAST_LEASE_MS + random() * 2_000;
/** Only an operator, or the age of what is stored, brings a process there; the crash tests do. */
const seldom = /\.(retention|verify|expired_calls|expired_pictures|expired_objects|folded)/;
const pointsOf = (service: Service) => stepsOf(service).filter((point) => !seldom.test(`.${point}`));

export const processFaults: Fault[] = [
  ...names.map(kill),
  ...names.map((name) => freeze(name, 'frozen', aMoment)),
  ...names.map((name) => freeze(name, 'frozen past its lease', pastLease)),
  ...services.flatMap((service) => pointsOf(service).map((point) => freezeAt(service, point))),
  ...services.flatMap((service) =>
    ['1', '2'].flatMap((number) =>
      storesOf[service].map((store) => cutOff(`${service}-${number}`, store, 'cut off from', pastLease)),
    ),
  ),
  ...names.flatMap((name) => [step(name, 1), step(name, -1)]),
];
