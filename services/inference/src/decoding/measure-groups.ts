import { processorTimeByGroup } from '../sandbox/processor-time.ts';

const EVERY_MS = 500;

/** Measures the processor time of process groups that live for seconds. */
export interface GroupMeter {
  add: (processGroup: number) => void;
  /** Takes a reading now. */
  read: () => void;
  /**
   * Ends the readings. @param isComplete whether the last one found the groups; else the time since then is added,
   * because they may have used all of it
   * @returns milliseconds
   */
  end: (isComplete: boolean) => number;
}

/** @param timesOf milliseconds of processor time by process group; groups that are gone are missing */
export function measureGroups(timesOf: () => ReadonlyMap<number, number> = processorTimeByGroup): GroupMeter {
  const spent = new Map<number, number>();
  let readAt = performance.now();
  const read = () => {
    readAt = performance.now();
    if (spent.size === 0) return;
    const times = timesOf();
    for (const [group, before] of spent) spent.set(group, Math.max(before, times.get(group) ?? 0));
  };
  const timer = setInterval(read, EVERY_MS);
  return {
    add: (group) => {
      if (!spent.has(group)) spent.set(group, 0);
    },
    read,
    end: (isComplete) => {
      clearInterval(timer);
      const unread = isComplete || spent.size === 0 ? 0 : performance.now() - readAt;
      return Math.round([...spent.values()].reduce((sum, ms) => sum + ms, unread));
    },
  };
}
