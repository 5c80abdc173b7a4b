import { useSignal } from '@preact/signals';
import type { Alarm } from '@vision/client';
import type { JSX } from 'preact';
import { AlarmCard } from '../alarms/alarm-card.tsx';
import { RuleTable } from '../alarms/rule-table.tsx';
import { useAlarms, useRules } from '../alarms/use-alarms.ts';
import type { RuleWithVerdicts } from '../alarms/use-alarms.ts';
import { TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { ScopeNotice } from '../components/scope-notice.tsx';
import { hrefOf } from '../lib/route.ts';
import { missingScopes } from '../state/session.ts';
import { t } from '../strings.ts';

/** Alarms, open ones first, and the rules that raise them. */
export function AlarmsPage(): JSX.Element {
  const { open, closed, cursor, reload } = useAlarms();
  const rules = useRules();
  const said = useSignal('');
  const changed = (note = '') => {
    said.value = note;
    reload();
    rules.reload();
  };
  const shared = { rules: rules.value.value, onChange: changed };
  const page = closed.value.value;
  if (missingScopes.value.has('read')) {
    return (
      <Page title={t.alarms.title}>
        <ScopeNotice scope="read" />
      </Page>
    );
  }
  return (
    <Page
      title={t.alarms.title}
      actions={
        <a class="button" href={hrefOf({ page: 'new-rule' })}>
          {t.alarms.newRule}
        </a>
      }
    >
      <ScopeNotice scope="notify" />
      <TroubleNotice
        trouble={open.trouble.value ?? closed.trouble.value ?? rules.trouble.value}
        onRetry={() => changed()}
      />
      <section aria-labelledby="open">
        <h2 id="open">{t.alarms.open}</h2>
        <AlarmList alarms={open.value.value} empty={t.alarms.noneOpen} {...shared} />
      </section>
      <section aria-labelledby="rules">
        <div class="panel-head">
          <h2 id="rules">{t.rules.title}</h2>
          <p role="status">{said.value}</p>
        </div>
        {shared.rules?.length === 0 ? <p class="dim">{t.alarms.noRules}</p> : null}
        {shared.rules && shared.rules.length > 0 ? <RuleTable rules={shared.rules} onChange={changed} /> : null}
      </section>
      <section aria-labelledby="closed">
        <h2 id="closed">{t.alarms.closed}</h2>
        <AlarmList alarms={page?.items} empty={t.alarms.noneClosed} {...shared} />
        <Pager
          texts={t.alarms}
          cursor={cursor.value}
          next={page?.next_cursor}
          onCursor={(next) => (cursor.value = next)}
        />
      </section>
    </Page>
  );
}

interface AlarmListProps {
  alarms: readonly Alarm[] | undefined;
  empty: string;
  rules: readonly RuleWithVerdicts[] | undefined;
  onChange: (note?: string) => void;
}

function AlarmList({ alarms, empty, rules, onChange }: AlarmListProps): JSX.Element {
  if (!alarms || alarms.length === 0) return <p class="dim">{alarms ? empty : t.loading}</p>;
  return (
    <ul class="alarms">
      {alarms.map((alarm) => (
        <AlarmCard
          key={alarm.alarm_id}
          alarm={alarm}
          rule={rules?.find(({ rule_id: id }) => id === alarm.rule_id)}
          hasRules={rules !== undefined}
          onChange={onChange}
        />
      ))}
    </ul>
  );
}
