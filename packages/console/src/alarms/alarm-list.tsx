import type { Alarm } from '@vision/client';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Pager } from '../components/pager.tsx';
import { t } from '../strings.ts';
import { AlarmCard } from './alarm-card.tsx';
import type { RuleWithVerdicts, useAlarms } from './use-alarms.ts';

interface AlarmListProps {
  /** Alarms that are open, or those that are closed. */
  loaded: ReturnType<typeof useAlarms>['open'];
  empty: string;
  pages: { newest: string; older: string };
  rules: readonly RuleWithVerdicts[] | undefined;
  onChange: (note?: string) => void;
}

/** A page of alarms, and the ways to others. */
export function AlarmList({ loaded, empty, pages, rules, onChange }: AlarmListProps): JSX.Element {
  const { cursor, value } = loaded;
  const isEmptied = cursor.value !== '' && value.value?.items.length === 0;
  useEffect(() => {
    // All alarms of an older page have closed meanwhile.
    if (isEmptied) cursor.value = '';
  }, [isEmptied]);
  return (
    <>
      <Cards alarms={value.value?.items} empty={empty} rules={rules} onChange={onChange} />
      <Pager
        texts={pages}
        cursor={cursor.value}
        next={value.value?.next_cursor}
        onCursor={(next) => (cursor.value = next)}
      />
    </>
  );
}

interface CardsProps extends Pick<AlarmListProps, 'empty' | 'rules' | 'onChange'> {
  alarms: readonly Alarm[] | undefined;
}

function Cards({ alarms, empty, rules, onChange }: CardsProps): JSX.Element {
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
