import { RateLimiterMemory } from 'rate-limiter-flexible';

/** Counts wrong credentials by the client network. */
export interface FailureThrottle {
  /** Seconds to wait; 0 while the network is within its allowance. */
  waitS: (network: string) => Promise<number>;
  /** Counts one more; returns the seconds to wait once the allowance is used up. */
  failed: (network: string) => Promise<number>;
}

export function createFailureThrottle(perMinute: number): FailureThrottle {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));
  return {
    waitS: async (network) => {
      const state = await limiter.get(network);
      return state && state.consumedPoints >= perMinute ? seconds(state.msBeforeNext) : 0;
    },
    failed: async (network) => {
      const state = await limiter.penalty(network);
      return state.consumedPoints > perMinute ? seconds(state.msBeforeNext) : 0;
    },
  };
}
