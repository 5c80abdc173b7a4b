import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@vision/shared/testing/until';
import type { World } from '../world/world.ts';
import type { Service, Store } from '../world/replicas.ts';
import { storeOf } from './fault.ts';
import type { Fault, Struck } from './fault.ts';
import { processOf } from './process-faults.ts';
import { MQTT_BROKER, RECEIVERS } from './receiver-faults.ts';

/** Alone in a run it lasts for the whole of it. */
export const LONG_OUTAGE = 'receivers: away while notify, results, Kafka and PostgreSQL die in turn';

/** Longest time in which one of them dies and comes back, before it is the turn of the next. */
const TURN_MS = 60_000;
/** Part of a turn in which it is dead. */
const DEAD = 0.4;
const SHORT_MS = 8_000;

export const longOutage: Fault = {
  name: LONG_OUTAGE,
  holds: [RECEIVERS, MQTT_BROKER, storeOf('kafka'), storeOf('postgres')],
  strike: async (struck) => {
    const { world, lastsMs = SHORT_MS } = struck;
    const links = [world.receiver.link, ...(world.mqtt ? [world.mqtt.link] : [])];
    const before = hits(links);
    for (const link of links) link.set({ kind: 'reset' });
    const turnMs = Math.min(TURN_MS, lastsMs / victims.length);
    const end = Date.now() + lastsMs;
    do {
      for (const victim of victims) {
        const turn = Date.now() + turnMs;
        await victim(struck, turnMs * DEAD);
        await delay(Math.max(0, turn - Date.now()));
      }
    } while (Date.now() + turnMs < end);
    for (const link of links) link.set({ kind: 'none' });
    return hits(links) > before;
  },
};

const hits = (links: World['receiver']['link'][]) => links.reduce((sum, link) => sum + link.hits(), 0);

type Victim = (struck: Struck, deadMs: number) => Promise<void>;

/** Both processes at once: the service is gone. */
const service =
  (name: Service): Victim =>
  async ({ world, hold }, deadMs) => {
    const [one, other] = world.replicas.filter((replica) => replica.service === name);
    if (!one || !other) throw new Error(`there are no two of ${name}`);
    await hold(processOf(one.name), () =>
      hold(processOf(other.name), async () => {
        for (const replica of [one, other]) replica.signal('SIGKILL');
        await delay(deadMs);
        await Promise.all([one.start(), other.start()]);
      }),
    );
  };

const store =
  (name: Store): Victim =>
  async ({ world }, deadMs) => {
    world.killStore(name);
    await delay(deadMs);
    // On a busy machine a broker may take longer than its start is given.
    await until(() => world.ensureStore(name).then(() => true));
  };

const victims: readonly Victim[] = [service('notify'), service('results'), store('kafka'), store('postgres')];
