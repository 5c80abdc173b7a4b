import { useSignal } from '@preact/signals';
import type { AlarmRule } from '@vision/client';
import { isolated, short } from '../lib/format.ts';
import type { Trouble } from '../lib/trouble.ts';
import { noteTrouble, useSession } from '../state/session.ts';
import { t } from '../strings.ts';
import { switchRule } from './switch-rule.ts';

/** Mutes a rule, or lets it raise alarms again. `onDone` is told what the viewer does not expect. */
export function useRuleSwitch(rule: AlarmRule | undefined, onDone: (note?: string) => void) {
  const { client } = useSession();
  const isBusy = useSignal(false);
  const trouble = useSignal<Trouble | undefined>(undefined);
  const toggle = async () => {
    if (!rule) return;
    isBusy.value = true;
    trouble.value = undefined;
    try {
      const isThere = await switchRule(client, rule.rule_id, !rule.enabled);
      onDone(isThere ? '' : t.rules.gone(isolated(short(rule.name, 60))));
    } catch (error) {
      trouble.value = noteTrouble(error);
    }
    isBusy.value = false;
  };
  return { toggle: () => void toggle(), isBusy: isBusy.value, trouble: trouble.value };
}
