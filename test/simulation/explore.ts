import fc from 'fast-check';
import { Broken } from './broken.ts';
import { seeded } from '../faults/random.ts';
import { openDatabase } from './database.ts';
import type { SimulatedDatabase } from './database.ts';
import { createPostgresDatabase, noDatabase, noServer, startPglite } from './servers.ts';
import { Steps } from './steps.ts';
import { realNow } from './virtual-time.ts';
import type { VirtualTime } from './virtual-time.ts';
import type { Stage, World } from './world.ts';

export interface Exploration {
  played: number;
  ms: number;
  /** The first schedule that broke a promise. */
  broken?: { seed: number; report: string };
}

interface Bounds {
  /** The first schedule; each next one is one higher. */
  seed: number;
  /** Real time for which schedules begin. */
  forMs: number;
  /** At most so many. */
  schedules: number;
}

const servers = { memory: () => Promise.resolve(noServer), pglite: startPglite, postgres: createPostgresDatabase };

/** Plays schedules of a world until one breaks a promise to callers. The same seed plays the same schedule. */
export async function explore(world: World, time: VirtualTime, bounds: Bounds): Promise<Exploration> {
  const player = await openPlayer(world, time);
  try {
    const from = realNow();
    let played = 0;
    while (played < bounds.schedules && (played === 0 || realNow() - from < bounds.forMs)) {
      const seed = bounds.seed + played;
      played += 1;
      const { report } = await player.play(seed);
      if (report !== undefined) return { played, ms: realNow() - from, broken: { seed, report } };
    }
    return { played, ms: realNow() - from };
  } finally {
    await player.close();
  }
}

interface Played {
  /** Steps of the schedule, each with its time. */
  steps: string[];
  /** Of a schedule that breaks a promise: the smallest plan that still does, and its steps. */
  report?: string;
}

export interface Player {
  play: (seed: number) => Promise<Played>;
  close: () => Promise<void>;
}

export async function openPlayer(world: World, time: VirtualTime): Promise<Player> {
  const server = await servers[world.server]();
  const database = world.schema && (await openDatabase(server, world.schema, time));
  return {
    play: async (seed) => {
      const steps: string[] = [];
      const onStep = (label: string) => void steps.push(`${time.now().toISOString()} ${label}`);
      const report = await playSeed(world, { seed, time, database, countBlocked: server.countBlocked, onStep });
      return { steps, ...(report === undefined ? {} : { report }) };
    },
    close: async () => {
      await database?.close();
      await server.close();
    },
  };
}

interface Play {
  seed: number;
  time: VirtualTime;
  database: SimulatedDatabase | undefined;
  countBlocked: () => Promise<number>;
  /** Told of the steps of the schedule, and of those with smaller plans when it breaks a promise. */
  onStep: (label: string) => void;
}

async function playSeed(
  world: World,
  { seed, time, database, countBlocked, onStep }: Play,
): Promise<string | undefined> {
  const property = fc.asyncProperty(world.plan, fc.scheduler(), async (plan, scheduler) => {
    time.restart();
    // Pauses have a random part.
    Math.random = seeded(seed);
    await database?.clear();
    const steps = new Steps(scheduler, time, { countBlocked, onStep });
    try {
      await world.play(stageOf(steps, time, database), plan);
    } finally {
      await steps.end();
      await database?.release();
    }
  });
  const outcome = await fc.check(property, { seed, numRuns: 1 });
  if (!outcome.failed) return undefined;
  const error = outcome.errorInstance;
  const what = error instanceof Broken ? error.message : error instanceof Error ? error.stack : String(error);
  return `${what}\n${await fc.asyncDefaultReportMessage(outcome)}`;
}

function stageOf(steps: Steps, time: VirtualTime, database: SimulatedDatabase = noDatabase): Stage {
  return {
    time,
    db: database.db,
    start: async (name, livesFor) => {
      const process = steps.process(name, livesFor);
      return Object.assign(process, { db: await database.of(process, steps) });
    },
    run: (work, afterEach) => steps.run(work, afterEach),
    pass: async (pausesMs) => {
      const clock = steps.process('time');
      for (const ms of pausesMs) {
        await clock.step(`+${ms} ms`);
        await steps.pass(ms);
      }
    },
  };
}
