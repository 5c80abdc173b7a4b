import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { fail } from '@vision/contracts/errors';

/** Prevents a subject from scanning networks with our probes. Counts in this process: the limits hold per replica. */
export interface ProbeLimits {
  /** @throws AppError OP-QUOTA-RATE-LIMITED `probe_rate`, before the work begins. */
  run: <T>(subject: string, work: () => Promise<T>) => Promise<T>;
}

const MINUTE_S = 60;

/** Allows a subject at most `atOnce` concurrent probes and `perMinute` probes in a minute. */
export function createProbeLimits({ atOnce, perMinute }: { atOnce: number; perMinute: number }): ProbeLimits {
  const running = new Map<string, number>();
  const begun = new RateLimiterMemory({ points: perMinute, duration: MINUTE_S });
  const change = (subject: string, by: number) => {
    const count = (running.get(subject) ?? 0) + by;
    if (count === 0) running.delete(subject);
    else running.set(subject, count);
  };
  return {
    run: async (subject, work) => {
      if ((running.get(subject) ?? 0) >= atOnce) throw tooManyAtOnce(atOnce);
      change(subject, 1);
      try {
        await begun.consume(subject).catch((refusal: unknown) => {
          throw refusal instanceof RateLimiterRes ? tooManyPerMinute(refusal.msBeforeNext) : refusal;
        });
        return await work();
      } finally {
        change(subject, -1);
      }
    },
  };
}

const tooManyAtOnce = (allowed: number) => fail.rateLimited('probe_rate', 1, { limit: 'probes', allowed });

export const tooManyPerMinute = (waitMs: number) =>
  fail.rateLimited('probe_rate', Math.max(1, Math.ceil(waitMs / 1000)), { limit: 'probes_per_minute' });
