/** Shares out a number of units: work that does not fit any more waits, in order. */
export interface Slots {
  /** Runs `work` holding `units`; more than there are in all counts as all of them. */
  run: <T>(work: () => Promise<T>, units?: number) => Promise<T>;
}

export function createSlots(size: number): Slots {
  let free = size;
  const waiting: { units: number; start: () => void }[] = [];
  const startNext = () => {
    for (let next = waiting[0]; next && next.units <= free; next = waiting[0]) {
      waiting.shift();
      free -= next.units;
      next.start();
    }
  };
  return {
    run: async (work, units = 1) => {
      const held = Math.min(units, size);
      await new Promise<void>((start) => {
        waiting.push({ units: held, start });
        startNext();
      });
      try {
        return await work();
      } finally {
        free += held;
        startNext();
      }
    },
  };
}
