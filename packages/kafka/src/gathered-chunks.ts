import { createGate } from '@vision/shared/async/gate';
import type { Gate } from '@vision/shared/async/gate';
import type { Records } from './progress.ts';
import { stopping } from './persist.ts';
import type { ReceivedEvent } from './subscription.ts';

/** Records of one partition that are handled together. */
export interface Part {
  records: Records;
  events: ReceivedEvent<unknown>[];
  /** What it counts for in a transaction; see `chunkSize` of the consumer. */
  load: number;
  /** Its partition had more records when it was fetched: it is a backlog, which gains nothing from a wait. */
  isBehind?: boolean;
  heartbeat: () => Promise<void>;
}

/** `singly`: its events were settled one by one. `sought`: the rest of its batch is to be dropped. */
export type Applied = 'passed' | 'singly' | 'sought';

export interface GatherOptions {
  /** What parts of one transaction count for at most; a part that is more by itself has one of its own. */
  most: number;
  /** Transactions at once. */
  concurrency: number;
  /** Handles parts of several partitions in one transaction. False when nothing came of it: each has to go alone. */
  passTogether: (parts: readonly Part[]) => Promise<boolean>;
  signal: AbortSignal;
}

export interface Gatherer {
  /** Handles a part with others that come within moments, or by `alone` when there are none or they fail together. */
  pass: (part: Part, alone: () => Promise<Applied>) => Promise<Applied>;
}

/**
 * How long a part waits for others. Frames that come evenly leave a few in each partition, and a transaction for each
 * of them costs more than all else that is done with them.
 */
const LINGER_MS = 100;

interface Waiting {
  part: Part;
  alone: () => Promise<Applied>;
  done: PromiseWithResolvers<Applied>;
}

/** Puts what several partitions have at the same time into transactions that are large enough to be worth it. */
export function createGatherer(options: GatherOptions): Gatherer {
  const { most, concurrency } = options;
  const slots = createGate({ concurrency });
  let waiting: Waiting[] = [];
  let load = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    const groups = inGroups(waiting, most);
    [waiting, load, timer] = [[], 0, undefined];
    for (const group of groups) void passGroup(options, slots, group);
  };
  return {
    pass: (part, alone) => {
      const done = Promise.withResolvers<Applied>();
      waiting.push({ part, alone, done });
      load += part.load;
      if (load >= most || part.isBehind) flush();
      else timer ??= setTimeout(flush, LINGER_MS);
      return done.promise;
    },
  };
}

function inGroups(waiting: readonly Waiting[], most: number): Waiting[][] {
  const groups: Waiting[][] = [];
  let room = 0;
  for (const one of waiting) {
    const { load } = one.part;
    const group = groups.at(-1);
    if (group && load <= room) group.push(one);
    else groups.push([one]);
    room = (group && load <= room ? room : most) - load;
  }
  return groups;
}

/** Never rejects: each part is told of its own end. */
async function passGroup({ passTogether, signal }: GatherOptions, slots: Gate, group: Waiting[]): Promise<void> {
  const inSlot = <T>(work: () => Promise<T>) => slots.run(() => (signal.aborted ? Promise.reject(stopping()) : work()));
  const isPassed =
    group.length > 1 && (await inSlot(() => passTogether(group.map(({ part }) => part))).catch(() => false));
  for (const { alone, done } of group) {
    if (isPassed) done.resolve('passed');
    else inSlot(alone).then(done.resolve, done.reject);
  }
}

export interface Room {
  /** Does the work when there is room for its load, in the order of the calls. */
  run: <T>(load: number, work: () => Promise<T>) => Promise<T>;
}

/** Bounds what is held decoded at once. What is more by itself has the room alone. */
export function createRoom(most: number): Room {
  const line: { load: number; enter: () => void }[] = [];
  let taken = 0;
  const admit = () => {
    for (let next = line[0]; next && (taken === 0 || taken + next.load <= most); next = line[0]) {
      line.shift();
      taken += next.load;
      next.enter();
    }
  };
  return {
    run: async (load, work) => {
      await new Promise<void>((enter) => {
        line.push({ load, enter });
        admit();
      });
      try {
        return await work();
      } finally {
        taken -= load;
        admit();
      }
    },
  };
}
