import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

interface NumberFieldProps {
  name: string;
  value: number;
  min: number;
  max: number;
  step?: number;
  onInput: (value: number) => void;
}

/** A number within its bounds; what is none leaves the last one in force. */
export function NumberField({ name, value, min, max, step = 1, onInput }: NumberFieldProps): JSX.Element {
  const id = useId();
  const take = (next: number) => {
    if (Number.isFinite(next) && next >= min && next <= max) onInput(next);
  };
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <input
        id={id}
        type="number"
        required
        min={min}
        max={max}
        step={step}
        value={value}
        onInput={(event) => take(event.currentTarget.valueAsNumber)}
      />
    </div>
  );
}
