import type { JSX } from 'preact';
import { ActionButton } from '../components/action-button.tsx';
import { TroubleNotice } from '../components/notice.tsx';
import { short } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { missingScopes } from '../state/session.ts';
import { t } from '../strings.ts';
import { scopeText, whenText } from './rule-words.ts';
import type { RuleWithVerdicts } from './use-alarms.ts';
import { useRuleSwitch } from './use-rule-switch.ts';

interface RuleTableProps {
  rules: readonly RuleWithVerdicts[];
  onChange: (note?: string) => void;
}

/** The rules, with how often each was right. */
export function RuleTable({ rules, onChange }: RuleTableProps): JSX.Element {
  return (
    <table class="list">
      <caption class="hidden">{t.rules.title}</caption>
      <thead>
        <tr>
          <th scope="col">{t.rules.name}</th>
          <th scope="col">{t.rules.when}</th>
          <th scope="col">{t.rules.applies}</th>
          <th scope="col">{t.rules.right}</th>
          <th scope="col">{t.rules.state}</th>
        </tr>
      </thead>
      <tbody>
        {rules.map((rule) => (
          <RuleRow key={rule.rule_id} rule={rule} onChange={onChange} />
        ))}
      </tbody>
    </table>
  );
}

function RuleRow({ rule, onChange }: Pick<RuleTableProps, 'onChange'> & { rule: RuleWithVerdicts }): JSX.Element {
  const { toggle, isBusy, trouble } = useRuleSwitch(rule, onChange);
  const { confirmed = 0, false_alarm: wrong = 0, none = 0 } = rule.verdicts ?? {};
  const isOff = missingScopes.value.has('notify');
  return (
    <tr>
      <th scope="row">
        <a href={hrefOf({ page: 'rule', name: rule.rule_id })}>
          <bdi>{short(rule.name, 60)}</bdi>
        </a>
      </th>
      <td>
        <bdi>{whenText(rule.when)}</bdi>
      </td>
      <td>
        <bdi>{scopeText(rule.scope)}</bdi>
      </td>
      <td>{rule.verdicts ? t.rules.verdicts(confirmed, wrong, none) : ''}</td>
      <td>
        <span class="row">
          <span class={`status ${rule.enabled ? 'active' : 'ended'}`}>{rule.enabled ? t.rules.on : t.rules.off}</span>
          <ActionButton class="small" isBusy={isBusy} isOff={isOff} onClick={toggle}>
            {rule.enabled ? t.alarms.mute : t.alarms.unmute}
          </ActionButton>
        </span>
        {isOff ? null : <TroubleNotice trouble={trouble} />}
      </td>
    </tr>
  );
}
