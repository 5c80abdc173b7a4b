import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { missingScopes, useSession } from '../state/session.ts';
import { t } from '../strings.ts';

interface TextFieldProps {
  name: string;
  value: string;
  onInput: (value: string) => void;
  hint?: string;
  isSecret?: boolean;
  isReadOnly?: boolean;
  isRequired?: boolean;
  pattern?: string;
  maxLength?: number;
}

export function TextField(props: TextFieldProps): JSX.Element {
  const {
    name,
    value,
    onInput,
    hint,
    isSecret = false,
    isReadOnly = false,
    isRequired = false,
    pattern,
    maxLength,
  } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <input
        id={id}
        {...(isSecret ? { type: 'password' as const } : { type: 'text' as const })}
        value={value}
        readOnly={isReadOnly}
        required={isRequired}
        autoComplete="off"
        autoCapitalize="off"
        spellcheck={false}
        {...(pattern === undefined ? {} : { pattern })}
        {...(maxLength === undefined ? {} : { maxLength })}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint === undefined ? null : <Hint id={id} text={hint} />}
    </div>
  );
}

interface ChoiceProps {
  name: string;
  value: string;
  options: readonly { value: string; text: string }[];
  onChange: (value: string) => void;
  hint?: string;
  isDisabled?: boolean;
}

export function Choice({ name, value, options, onChange, hint, isDisabled = false }: ChoiceProps): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <select
        id={id}
        value={value}
        disabled={isDisabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
      {hint === undefined ? null : <Hint id={id} text={hint} />}
    </div>
  );
}

const Hint = ({ id, text }: { id: string; text: string }) => (
  <p class="hint" id={`${id}-hint`}>
    {text}
  </p>
);

/** Chooses one of the enabled scenes. Who may not read them writes the code of one. */
export function SceneChoice(props: Omit<ChoiceProps, 'options' | 'hint'>): JSX.Element {
  const { scenes } = useSession();
  const { name, value, isDisabled = false, onChange } = props;
  if (missingScopes.value.has('read')) {
    return (
      <TextField
        name={name}
        value={value}
        hint={t.sceneCodeHint}
        isRequired
        isReadOnly={isDisabled}
        maxLength={64}
        onInput={(next) => onChange(next.trim())}
      />
    );
  }
  const options = scenes
    .filter(({ enabled }) => enabled)
    .map((scene) => ({ value: scene.scene_code, text: scene.name }));
  return <Choice {...props} options={options} />;
}

interface CheckProps {
  isChecked: boolean;
  isDisabled?: boolean;
  onChange: (isChecked: boolean) => void;
  children: ComponentChildren;
}

export function Check({ isChecked, isDisabled = false, onChange, children }: CheckProps): JSX.Element {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{children}</span>
    </label>
  );
}
