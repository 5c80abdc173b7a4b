import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { fail } from '@vision/contracts/errors';
import { RULE_CHANGES_PER_MINUTE } from '../../domain/alarm-rule.ts';

/**
 * Limits the changes of alarm rules of a subject. Each is a record that Kafka retains for days, and makes results read
 * the rules of every running task of the subject. Counts in this process: the limit holds per replica.
 */
export interface RuleChanges {
  /** One request of a subject that may change a rule. */
  of: (subject: string) => RuleChange;
}

export interface RuleChange {
  /**
   * Counts the change, once for any number of attempts of its transaction.
   * @throws AppError OP-QUOTA-RATE-LIMITED `rule_change_rate`.
   */
  count: () => Promise<void>;
}

const MINUTE_S = 60;

export function createRuleChanges(perMinute: number): RuleChanges {
  const made = new RateLimiterMemory({ points: perMinute, duration: MINUTE_S });
  return {
    of: (subject) => {
      let counted: Promise<unknown> | undefined;
      return {
        count: async () => {
          counted ??= made.consume(subject);
          await counted.catch((refusal: unknown) => {
            throw refusal instanceof RateLimiterRes ? tooManyRuleChanges(refusal.msBeforeNext) : refusal;
          });
        },
      };
    },
  };
}

export const tooManyRuleChanges = (waitMs: number) =>
  fail.rateLimited('rule_change_rate', Math.max(1, Math.ceil(waitMs / 1000)), {
    limit: 'rule_changes_per_minute',
    allowed: RULE_CHANGES_PER_MINUTE,
  });
