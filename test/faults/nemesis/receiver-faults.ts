import { setTimeout as delay } from 'node:timers/promises';
import type { FaultProxy, Toxic } from '@vision/shared/testing/fault-proxy';
import { until } from '@vision/shared/testing/until';
import { failingBehaviours } from '../world/receiver.ts';
import type { Behaviour } from '../world/receiver.ts';
import type { World } from '../world/world.ts';
import { aMoment } from './fault.ts';
import type { Fault } from './fault.ts';

/** What faults of all receivers of webhooks hold. */
export const RECEIVERS = 'receivers';
/** The same of the MQTT broker. */
export const MQTT_BROKER = 'MQTT broker';

/** Events are seldom while little happens. */
const WAIT_FOR_USE_MS = 20_000;
/** After a few failures in a row an endpoint of the broker waits for minutes before it connects again. */
const WAIT_FOR_CONNECTION_MS = 120_000;

const behave = (behaviour: Behaviour): Fault => ({
  name: `receivers of webhooks: ${behaviour}`,
  holds: [RECEIVERS],
  strike: async ({ world: { receiver }, random }) => {
    const before = receiver.met();
    receiver.behave(behaviour);
    const isMet = await comesTrue(() => receiver.met() > before);
    await delay(aMoment(random));
    receiver.behave('take webhooks');
    return isMet;
  },
});

const turnedInward: Fault = {
  name: 'receivers of webhooks: name leads to an inner address now and then',
  holds: [RECEIVERS],
  strike: async ({ world: { receiver }, random }) => {
    const before = receiver.name.answered();
    receiver.name.turn(true);
    const isMet = await comesTrue(() => receiver.name.answered() > before);
    await delay(aMoment(random));
    receiver.name.turn(false);
    return isMet;
  },
};

interface Linked {
  holds: string;
  what: Toxic;
  linkOf: (world: World) => FaultProxy | undefined;
  patienceMs?: number;
}

const link = (name: string, { holds, what, linkOf, patienceMs }: Linked): Fault => ({
  name,
  holds: [holds],
  isPossible: (world) => linkOf(world) !== undefined,
  strike: async ({ world, random }) => {
    const proxy = linkOf(world);
    const before = proxy?.hits() ?? 0;
    proxy?.set(what);
    const isMet = await comesTrue(() => (proxy?.hits() ?? 0) > before, patienceMs);
    await delay(aMoment(random));
    proxy?.set({ kind: 'none' });
    return isMet;
  },
});

const toReceivers = (title: string, what: Toxic) =>
  link(`receivers of webhooks: ${title}`, { holds: RECEIVERS, what, linkOf: ({ receiver }) => receiver.link });
const toBroker = (title: string, what: Toxic) =>
  link(`MQTT broker: ${title}`, {
    holds: MQTT_BROKER,
    what,
    linkOf: ({ mqtt }) => mqtt?.link,
    patienceMs: WAIT_FOR_CONNECTION_MS,
  });

const ofBroker = (title: string, strike: (mqtt: NonNullable<World['mqtt']>, ms: number) => Promise<void>): Fault => ({
  name: `MQTT broker: ${title}`,
  holds: [MQTT_BROKER],
  isPossible: ({ mqtt }) => mqtt !== undefined,
  strike: async ({ world: { mqtt }, random }) => {
    if (mqtt) await strike(mqtt, aMoment(random));
    return mqtt !== undefined;
  },
});

const comesTrue = (isSo: () => boolean, timeoutMs = WAIT_FOR_USE_MS) =>
  until(isSo, { timeoutMs }).then(
    () => true,
    () => false,
  );

export const receiverFaults: Fault[] = [
  ...failingBehaviours.map(behave),
  turnedInward,
  toReceivers('refuse connections', { kind: 'refuse' }),
  toReceivers('take connections and never read', { kind: 'black_hole' }),
  toBroker('connections reset', { kind: 'reset' }),
  toBroker('acknowledges nothing', { kind: 'deaf' }),
  ofBroker('frozen', async (mqtt, ms) => {
    mqtt.signal('SIGSTOP');
    await delay(ms);
    mqtt.signal('SIGCONT');
  }),
  ofBroker('restarted', (mqtt, ms) => mqtt.restart(ms)),
];
