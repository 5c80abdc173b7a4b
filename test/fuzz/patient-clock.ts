import type { Clock } from '@vision/streams/budget';

/** A clock that jumps over what would be waited for: what is measured is work and not patience. */
export function patientClock(): Clock {
  let ms = 0;
  return {
    now: () => ms,
    wait: async (forMs) => {
      ms += forMs;
    },
  };
}
