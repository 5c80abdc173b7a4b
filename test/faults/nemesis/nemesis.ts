import { setTimeout as delay } from 'node:timers/promises';
import { seeded } from '../random.ts';
import type { World } from '../world/world.ts';
import { backendFaults } from './backend-faults.ts';
import { brokerFaults } from './broker-faults.ts';
import { diskFaults } from './disk-faults.ts';
import type { Fault } from './fault.ts';
import { longOutage } from './long-outage.ts';
import { objectStoreLies } from './object-store-lies.ts';
import { processFaults } from './process-faults.ts';
import { receiverFaults } from './receiver-faults.ts';
import { storeFaults } from './store-faults.ts';
import { systemFaults } from './system-faults.ts';

/** Every fault that may strike at any time; the names appear in the report. */
export const faults: Fault[] = [
  ...processFaults,
  ...storeFaults,
  ...objectStoreLies,
  ...backendFaults,
  ...systemFaults,
  ...diskFaults,
  ...brokerFaults,
  ...receiverFaults,
  longOutage,
];

const names = faults.map(({ name }) => name);

/** A fault that struck, by the clock of this process. */
export interface Strike {
  name: string;
  holds: readonly string[];
  from: number;
  to: number;
  notes: string[];
}

/** How often each of these faults struck. */
export function timesOf(names: readonly string[], strikes: readonly Strike[]): Map<string, number> {
  const times = new Map(names.map((name) => [name, 0]));
  for (const { name } of strikes) times.set(name, (times.get(name) ?? 0) + 1);
  return times;
}

/**
 * Lets those faults strike that are wanted, until none is, several at once, as the seed says. Each is drawn once before
 * any is drawn again, those that struck seldom before the others; one that met nobody is drawn again at the end of the
 * round. Returns those that struck.
 */
export async function breakThings(
  world: World,
  options: {
    seed: number;
    atOnce: number;
    wantedOf: (strikes: readonly Strike[]) => readonly string[];
    /** Of the only fault of a run. */
    lastsMs?: number | undefined;
  },
): Promise<Strike[]> {
  const strikes: Strike[] = [];
  const held = new Set<string>();
  const { wantedOf, lastsMs } = options;
  const bag = createBag(seeded(options.seed), { held, strikes, wantedOf });
  const lanes = Array.from({ length: options.atOnce }, async (_, lane) => {
    const random = seeded(options.seed * 31 + lane);
    while (wantedOf(strikes).length > 0) {
      const fault = bag.draw();
      if (fault && !(await strike(world, { fault, random, held, strikes, lastsMs }))) bag.putBack(fault);
      await delay(200 + random() * 500);
    }
  });
  await Promise.all(lanes);
  return strikes;
}

interface Striking {
  fault: Fault;
  random: () => number;
  held: Set<string>;
  strikes: Strike[];
  lastsMs: number | undefined;
}

async function strike(world: World, { fault, random, held, strikes, lastsMs }: Striking): Promise<boolean> {
  const notes: string[] = [];
  const from = Date.now();
  for (const one of fault.holds) held.add(one);
  console.log(`faults     ${fault.name}`);
  const hold = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    while (held.has(what)) await delay(100);
    held.add(what);
    return work().finally(() => held.delete(what));
  };
  const didStrike = await fault.strike({ world, random, lastsMs, note: (text) => void notes.push(text), hold });
  for (const one of fault.holds) held.delete(one);
  if (didStrike) strikes.push({ name: fault.name, holds: fault.holds, from, to: Date.now(), notes });
  return didStrike;
}

interface Bag {
  /** The next fault that can strike beside those that do; undefined when there is none now. */
  draw: () => Fault | undefined;
  /** For one that met nobody: it comes again at the end of the round. */
  putBack: (fault: Fault) => void;
}

/** Tries for a fault that meets nobody, in each round. */
const TRIES = 4;

interface BagOptions {
  held: ReadonlySet<string>;
  strikes: readonly Strike[];
  wantedOf: (strikes: readonly Strike[]) => readonly string[];
}

function createBag(random: () => number, { held, strikes, wantedOf }: BagOptions): Bag {
  let left: Fault[] = [];
  const misses = new Map<Fault, number>();
  return {
    draw: () => {
      const wanted = new Set(wantedOf(strikes));
      left = left.filter(({ name }) => wanted.has(name));
      if (left.length === 0) {
        const times = timesOf(names, strikes);
        left = shuffled(
          faults.filter(({ name }) => wanted.has(name)),
          random,
        ).sort((a, b) => (times.get(a.name) ?? 0) - (times.get(b.name) ?? 0));
        misses.clear();
      }
      const index = left.findIndex(({ holds }) => !holds.some((one) => held.has(one)));
      return index < 0 ? undefined : left.splice(index, 1)[0];
    },
    putBack: (fault) => {
      const count = (misses.get(fault) ?? 0) + 1;
      misses.set(fault, count);
      if (count < TRIES) left.push(fault);
    },
  };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
