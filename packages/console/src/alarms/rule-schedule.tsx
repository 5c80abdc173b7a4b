import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Checks, optionsOf } from '../components/choices.tsx';
import { Check, TextField } from '../components/fields.tsx';
import type { Day, Schedule } from '../lib/rule-draft.ts';
import { t } from '../strings.ts';

type Window = Schedule['windows'][number];
const MOST_WINDOWS = 20;
const weekdays: Day[] = ['mon', 'tue', 'wed', 'thu', 'fri'];

const newWindow = (): Window => ({ days: weekdays, from: '18:00', to: '06:00' });
const newSchedule = (): Schedule => ({
  time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  windows: [newWindow()],
});

interface RuleScheduleProps {
  schedule: Schedule | undefined;
  onChange: (schedule: Schedule | undefined) => void;
}

/** The times at which a rule raises alarms; always without a schedule. */
export function RuleSchedule({ schedule, onChange }: RuleScheduleProps): JSX.Element {
  const { windows = [] } = schedule ?? {};
  const set = (next: Window[]) => schedule && onChange({ ...schedule, windows: next });
  return (
    <>
      <Check isChecked={schedule !== undefined} onChange={(isOn) => onChange(isOn ? newSchedule() : undefined)}>
        {t.rule.schedule}
      </Check>
      {schedule ? (
        <>
          <TextField
            name={t.rule.zone}
            value={schedule.time_zone}
            hint={t.rule.uploadsAlways}
            isRequired
            maxLength={64}
            onInput={(next) => onChange({ ...schedule, time_zone: next.trim() })}
          />
          {windows.map((window, index) => (
            <TimeWindow
              key={index}
              number={index + 1}
              window={window}
              onChange={(next) => set(windows.map((one, at) => (at === index ? next : one)))}
              onRemove={windows.length > 1 ? () => set(windows.filter((_, at) => at !== index)) : undefined}
            />
          ))}
          {windows.length < MOST_WINDOWS ? (
            <p>
              <button type="button" onClick={() => set([...windows, newWindow()])}>
                {t.rule.addWindow}
              </button>
            </p>
          ) : null}
        </>
      ) : null}
    </>
  );
}

interface TimeWindowProps {
  number: number;
  window: Window;
  onChange: (window: Window) => void;
  onRemove: (() => void) | undefined;
}

function TimeWindow({ number, window, onChange, onRemove }: TimeWindowProps): JSX.Element {
  return (
    <div class="window" role="group" aria-label={t.rule.window(number)}>
      <Checks
        name={t.rule.window(number)}
        options={optionsOf(t.rule.days)}
        chosen={window.days}
        onChange={(next) => onChange({ ...window, days: next })}
      />
      <div class="row">
        <Time name={t.rule.from} value={window.from} onInput={(next) => onChange({ ...window, from: next })} />
        <Time name={t.rule.to} value={window.to} onInput={(next) => onChange({ ...window, to: next })} />
        {onRemove ? (
          <button type="button" onClick={onRemove}>
            {t.rule.removeWindow}
          </button>
        ) : null}
      </div>
    </div>
  );
}

const CLOCK = '([01][0-9]|2[0-3]):[0-5][0-9]|24:00';

/** A time of day. A text field: `24:00` is none for a browser's own field. */
function Time({ name, value, onInput }: { name: string; value: string; onInput: (value: string) => void }) {
  const id = useId();
  return (
    <div class="field time">
      <label for={id}>{name}</label>
      <input
        id={id}
        type="text"
        inputMode="numeric"
        required
        pattern={CLOCK}
        placeholder="18:00"
        value={value}
        onInput={(event) => onInput(event.currentTarget.value.trim())}
      />
    </div>
  );
}
