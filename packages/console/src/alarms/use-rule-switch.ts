import type { AlarmRule } from '@vision/client';
import { isolated, short } from '../lib/format.ts';
import { useSession } from '../state/session.ts';
import { useAction } from '../state/use-action.ts';
import { t } from '../strings.ts';
import { switchRule } from './switch-rule.ts';

/** Mutes a rule, or lets it raise alarms again. `onDone` receives a note when the rule no longer exists. */
export function useRuleSwitch(rule: AlarmRule | undefined, onDone: (note?: string) => void) {
  const { client } = useSession();
  const { run, ...action } = useAction();
  const toggle = () =>
    run(async () => {
      if (!rule) return;
      const isThere = await switchRule(client, rule.rule_id, !rule.enabled);
      onDone(isThere ? '' : t.rules.gone(isolated(short(rule.name, 60))));
    });
  return { ...action, toggle };
}
