import { ruleChanged } from '@vision/contracts/rule-events';
import { on } from '@vision/kafka/subscription';
import type { Subscription } from '@vision/kafka/subscription';
import type { Deps } from '../use-cases/deps.ts';
import { learnRule } from '../use-cases/rules/learn-rule.ts';

/** Handlers of events about alarm rules. */
export function ruleSubscriptions({ wakeFold }: Pick<Deps, 'wakeFold'>): Subscription[] {
  return [
    on(ruleChanged, async ({ data }, { transaction }) => {
      await transaction((tx) => learnRule(tx, data));
      wakeFold();
    }),
  ];
}
