import type { JSX } from 'preact';
import { short } from '../lib/format.ts';
import { Check } from './fields.tsx';

interface ChecksProps<T extends string> {
  name: string;
  options: readonly { value: T; text: string }[];
  chosen: readonly T[];
  onChange: (chosen: T[]) => void;
  hint?: string;
}

/** Any number of choices; their order is that of the options. */
export function Checks<T extends string>({ name, options, chosen, onChange, hint }: ChecksProps<T>): JSX.Element {
  const toggle = (value: T, isChosen: boolean) =>
    onChange(options.map((option) => option.value).filter((one) => (one === value ? isChosen : chosen.includes(one))));
  return (
    <fieldset class="checks">
      <legend>{name}</legend>
      <div class="check-row">
        {options.map(({ value, text }) => (
          <Check key={value} isChecked={chosen.includes(value)} onChange={(isChosen) => toggle(value, isChosen)}>
            <bdi>{short(text, 40)}</bdi>
          </Check>
        ))}
      </div>
      {hint === undefined ? null : <p class="hint">{hint}</p>}
    </fieldset>
  );
}

interface OneOfProps<T extends string> {
  name: string;
  options: readonly { value: T; text: string }[];
  value: T;
  onChange: (value: T) => void;
}

/** A few choices of which one is in force, side by side. */
export function OneOf<T extends string>({ name, options, value, onChange }: OneOfProps<T>): JSX.Element {
  return (
    <div class="field">
      <span class="group-name">{name}</span>
      <div class="segments" role="group" aria-label={name}>
        {options.map((option) => (
          <button
            key={option.value}
            type="button"
            aria-pressed={option.value === value}
            onClick={() => onChange(option.value)}
          >
            {option.text}
          </button>
        ))}
      </div>
    </div>
  );
}

/** The choices of a table of texts, in its order. */
export const optionsOf = <T extends string>(texts: Readonly<Record<T, string>>) =>
  (Object.keys(texts) as T[]).map((value) => ({ value, text: texts[value] }));
