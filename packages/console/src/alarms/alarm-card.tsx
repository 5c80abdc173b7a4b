import type { Alarm, AlarmRule } from '@vision/client';
import type { JSX } from 'preact';
import { ActionButton } from '../components/action-button.tsx';
import { TroubleNotice } from '../components/notice.tsx';
import { duration, inUtc, isDate, isolated, moment, position, short } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { dataOf } from '../state/data.ts';
import { missingScopes, useSession } from '../state/session.ts';
import { useAction } from '../state/use-action.ts';
import { t } from '../strings.ts';
import { evidenceText } from './alarm-words.ts';
import { Evidence } from './evidence.tsx';
import { useRuleSwitch } from './use-rule-switch.ts';

interface AlarmCardProps {
  alarm: Alarm;
  rule: AlarmRule | undefined;
  /** Whether the rules are known: then a rule that is not among them was deleted. */
  hasRules: boolean;
  onChange: (note?: string) => void;
}

/** One alarm: what it saw, and what its viewer makes of it. */
export function AlarmCard({ alarm, rule, hasRules, onChange }: AlarmCardProps): JSX.Element {
  const { opened_ms: openedMs, suppressed, closed_by: closedBy } = alarm;
  const name = short(rule?.name ?? alarm.rule_id, 60);
  return (
    <li class="alarm" aria-label={name}>
      <Evidence alarm={alarm} />
      <div class="alarm-text">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <p>
          <bdi>{evidenceText(alarm)}</bdi>
        </p>
        <p class="dim" title={isDate(openedMs) ? inUtc(openedMs) : undefined}>
          {timeText(alarm)} ·{' '}
          <a href={hrefOf({ page: 'task', taskId: alarm.task_id })}>
            <bdi>{t.alarms.task(isolated(short(alarm.client_ref ?? alarm.task_id.slice(0, 8), 40)))}</bdi>
          </a>
        </p>
        {closedBy ? <p class="dim">{t.alarms.ended(t.alarms.closedBy[closedBy])}</p> : null}
        {suppressed > 0 ? <p class="dim">{t.alarms.suppressed(suppressed)}</p> : null}
        {hasRules && !rule ? <p class="dim">{t.alarms.ruleGone}</p> : null}
        {rule?.enabled === false ? <p class="dim">{t.alarms.muted}</p> : null}
        <Actions alarm={alarm} rule={rule} onChange={onChange} />
      </div>
    </li>
  );
}

function timeText({ opened_ms: from, closed_ms: to }: Alarm): string {
  const opened = isDate(from) ? moment(from) : position(from);
  return to === undefined ? t.alarms.since(opened) : t.alarms.lasted(opened, duration(to - from));
}

type Verdict = 'confirmed' | 'false_alarm' | 'none';

function Actions({ alarm, rule, onChange }: Omit<AlarmCardProps, 'hasRules'>): JSX.Element {
  const review = useReview(alarm, onChange);
  const mute = useRuleSwitch(rule, onChange);
  const isOff = missingScopes.value.has('notify');
  const verdict = alarm.review?.verdict ?? 'none';
  const choose = (next: Verdict) => review.give(next === verdict ? 'none' : next);
  return (
    <>
      <div class="row" role="group" aria-label={t.alarms.verdict}>
        <ActionButton
          isPressed={verdict === 'confirmed'}
          isBusy={review.isBusy}
          isOff={isOff}
          onClick={() => choose('confirmed')}
        >
          {verdict === 'confirmed' ? t.alarms.confirmed : t.alarms.confirm}
        </ActionButton>
        <ActionButton
          isPressed={verdict === 'false_alarm'}
          isBusy={review.isBusy}
          isOff={isOff}
          onClick={() => choose('false_alarm')}
        >
          {t.alarms.falseAlarm}
        </ActionButton>
        {rule ? (
          <ActionButton isBusy={mute.isBusy} isOff={isOff} onClick={mute.toggle}>
            {rule.enabled ? t.alarms.mute : t.alarms.unmute}
          </ActionButton>
        ) : null}
      </div>
      {isOff ? null : <TroubleNotice trouble={review.trouble ?? mute.trouble} />}
    </>
  );
}

function useReview({ alarm_id: alarmId }: Alarm, onDone: () => void) {
  const { client } = useSession();
  const { run, ...action } = useAction();
  const give = (verdict: Verdict) =>
    run(async () => {
      const params = { path: { alarm_id: alarmId } };
      dataOf(await client.api.PUT('/v1/vision/alarms/{alarm_id}/review', { params, body: { verdict } }));
      onDone();
    });
  return { ...action, give };
}
