import { isIPv6 } from 'node:net';
import { RateLimiterMemory } from 'rate-limiter-flexible';

/** Counts wrong keys per remote address, so that guessing does not reach the database. */
export interface FailureThrottle {
  /** Seconds to wait; 0 while the address is below its allowance. */
  waitS: (address: string) => Promise<number>;
  failed: (address: string) => Promise<void>;
}

export function createFailureThrottle(perMinute: number): FailureThrottle {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return {
    waitS: async (address) => {
      const state = await limiter.get(networkOf(address));
      return state && state.consumedPoints >= perMinute ? Math.max(1, Math.ceil(state.msBeforeNext / 1000)) : 0;
    },
    failed: async (address) => {
      await limiter.penalty(networkOf(address));
    },
  };
}

/** One holder has a whole /64 of IPv6 addresses. */
function networkOf(address: string): string {
  return isIPv6(address) && !address.includes('.') ? address.split(':').slice(0, 4).join(':') : address;
}
