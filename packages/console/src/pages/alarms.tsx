import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { AlarmList } from '../alarms/alarm-list.tsx';
import { RuleTable } from '../alarms/rule-table.tsx';
import { useAlarms, useRules } from '../alarms/use-alarms.ts';
import { TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { ScopeNotice } from '../components/scope-notice.tsx';
import { hrefOf } from '../lib/route.ts';
import { useAnswered } from '../state/use-loaded.ts';
import { t } from '../strings.ts';

/** Alarms, open ones first, and the rules that raise them. */
export function AlarmsPage(): JSX.Element {
  const { open, closed, reload } = useAlarms();
  const rules = useRules();
  // Sections wait for those above them; otherwise they would jump.
  const hasOpen = useAnswered(open);
  const hasRules = useAnswered(rules) && hasOpen;
  const said = useSignal('');
  const changed = (note = '') => {
    said.value = note;
    reload();
    rules.reload();
  };
  const shared = { rules: rules.value.value, onChange: changed };
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
        <AlarmList loaded={open} empty={t.alarms.noneOpen} pages={t.alarms.openPages} {...shared} />
      </section>
      {hasOpen ? (
        <section aria-labelledby="rules">
          <div class="panel-head">
            <h2 id="rules">{t.rules.title}</h2>
            <p role="status">{said.value}</p>
          </div>
          {shared.rules?.length === 0 ? <p class="dim">{t.alarms.noRules}</p> : null}
          {shared.rules && shared.rules.length > 0 ? <RuleTable rules={shared.rules} onChange={changed} /> : null}
          {(shared.rules?.length ?? 0) > rules.counted ? (
            <p class="row">
              <button type="button" onClick={rules.countMore}>
                {t.rules.countMore}
              </button>
              <span class="dim">{t.rules.counted(rules.counted)}</span>
            </p>
          ) : null}
        </section>
      ) : null}
      {hasRules ? (
        <section aria-labelledby="closed">
          <h2 id="closed">{t.alarms.closed}</h2>
          <AlarmList loaded={closed} empty={t.alarms.noneClosed} pages={t.alarms} {...shared} />
        </section>
      ) : null}
    </Page>
  );
}
