import { useSignal } from '@preact/signals';
import type { AlarmRule } from '@vision/client';
import type { Trouble } from '../lib/trouble.ts';
import { dataOf } from '../state/data.ts';
import { noteTrouble, useSession } from '../state/session.ts';

/** Mutes a rule, or lets it raise alarms again. */
export function useRuleSwitch(rule: AlarmRule | undefined, onDone: () => void) {
  const { client } = useSession();
  const isBusy = useSignal(false);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const toggle = async () => {
    if (!rule) return;
    isBusy.value = true;
    trouble.value = undefined;
    try {
      const { rule_id: ruleId, name, scope, when, schedule, min_interval_ms: interval } = rule;
      const body = {
        name,
        enabled: !rule.enabled,
        when,
        min_interval_ms: interval,
        ...(scope ? { scope } : {}),
        ...(schedule ? { schedule } : {}),
      };
      dataOf(await client.api.PUT('/v1/vision/alarm-rules/{rule_id}', { params: { path: { rule_id: ruleId } }, body }));
      onDone();
    } catch (error) {
      trouble.value = noteTrouble(error);
    }
    isBusy.value = false;
  };
  return { toggle: () => void toggle(), isBusy: isBusy.value, trouble: trouble.value };
}
