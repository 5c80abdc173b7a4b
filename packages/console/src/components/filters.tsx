import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { score, short } from '../lib/format.ts';
import { t } from '../strings.ts';
import { Check } from './fields.tsx';

interface FiltersProps {
  minScore: Signal<number>;
  hidden: Signal<ReadonlySet<string>>;
  labels: readonly string[];
  lowest: number;
}

/** Lowest score and labels; they act at once on what is loaded. */
export function Filters({ minScore, hidden, labels, lowest }: FiltersProps): JSX.Element {
  const id = useId();
  const toggle = (label: string, isShown: boolean) => {
    const next = new Set(hidden.value);
    if (isShown) next.delete(label);
    else next.add(label);
    hidden.value = next;
  };
  return (
    <div class="filters" role="group" aria-label={t.filters.title}>
      <div class="field">
        <label for={id}>
          {t.filters.score} <output for={id}>{score(minScore.value)}</output>
        </label>
        <input
          id={id}
          type="range"
          min={Math.floor(lowest * 20) / 20}
          max={0.95}
          step={0.05}
          value={minScore.value}
          onInput={(event) => (minScore.value = event.currentTarget.valueAsNumber)}
        />
      </div>
      <fieldset class="labels">
        <legend>{t.filters.labels}</legend>
        {labels.length === 0 ? <p class="dim">{t.filters.noLabels}</p> : null}
        {labels.map((label) => (
          <Check key={label} isChecked={!hidden.value.has(label)} onChange={(isShown) => toggle(label, isShown)}>
            <bdi>{short(label, 40)}</bdi>
          </Check>
        ))}
      </fieldset>
    </div>
  );
}
