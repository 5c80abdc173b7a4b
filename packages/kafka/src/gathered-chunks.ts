import { createGate } from '@vision/shared/async/gate';
import type { Gate } from '@vision/shared/async/gate';
import type { Records } from './progress.ts';
import { stopping } from './persist.ts';
import type { ReceivedEvent } from './subscription.ts';

/** Records of one partition that are handled together. */
export interface Part {
  records: Records;
  events: ReceivedEvent<unknown>[];
  /** Its weight in a transaction; see `chunkSize` of the consumer. */
  load: number;
  /** Its partition had more records when it was fetched: waiting would gain nothing. */
  isBehind?: boolean;
  heartbeat: () => Promise<void>;
}

/** `singly`: its events were settled one by one. `sought`: the rest of its batch is to be dropped. */
export type Applied = 'passed' | 'singly' | 'sought';

export interface GatherOptions {
  /** Maximum load of one transaction; a part with a higher load gets its own. */
  most: number;
  /** Maximum number of concurrent transactions. */
  concurrency: number;
  /** Handles parts of several partitions in one transaction. False when it failed: each part is then handled alone. */
  passTogether: (parts: readonly Part[]) => Promise<boolean>;
  signal: AbortSignal;
}

export interface Gatherer {
  /** Handles a part with others that arrive within `LINGER_MS`, or by `alone` when there are none or they fail. */
  pass: (part: Part, alone: () => Promise<Applied>) => Promise<Applied>;
}

/**
 * Time that a part waits for others. Frames that arrive evenly leave a few records in each partition, and a separate
 * transaction for each part costs more than all other work on it.
 */
const LINGER_MS = 100;

interface Waiting {
  part: Part;
  alone: () => Promise<Applied>;
  done: PromiseWithResolvers<Applied>;
}

/** Combines parts of several partitions into larger transactions. */
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

/** Never rejects: `done` of each part receives its own outcome. */
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
  /** Runs the work when there is capacity for its load, in the order of the calls. */
  run: <T>(load: number, work: () => Promise<T>) => Promise<T>;
}

/** Bounds the load that is decoded at the same time. Work above the limit runs alone. */
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
