import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { isWithin } from '../lib/bounds.ts';
import type { Bounds } from '../lib/bounds.ts';
import { t } from '../strings.ts';

interface NumberFieldProps {
  name: string;
  /** What is written, within the bounds or not; NaN for what is no number. */
  value: number;
  bounds: Bounds;
  onInput: (value: number) => void;
}

/** A number that the viewer writes; it says its bounds when they are not kept. */
export function NumberField({ name, value, bounds, onInput }: NumberFieldProps): JSX.Element {
  const id = useId();
  const isWrong = !isWithin(value, bounds);
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <input
        id={id}
        type="number"
        required
        min={bounds.least}
        max={bounds.most}
        step={bounds.isWhole === true ? 1 : 'any'}
        value={Number.isNaN(value) ? '' : value}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? `${id}-hint` : undefined}
        onInput={(event) => onInput(event.currentTarget.valueAsNumber)}
      />
      {isWrong ? (
        <p class="hint" id={`${id}-hint`}>
          {t.bounds(bounds)}
        </p>
      ) : null}
    </div>
  );
}
