import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

interface AskButtonProps {
  text: string;
  question: string;
  yes: string;
  no: string;
  isDanger?: boolean;
  isDisabled?: boolean;
  onYes: () => void;
}

/** A button that asks before it acts. */
export function AskButton(props: AskButtonProps): JSX.Element {
  const { text, question, yes, no, isDanger = false, isDisabled = false, onYes } = props;
  const isAsking = useSignal(false);
  if (!isAsking.value) {
    return (
      <button type="button" disabled={isDisabled} onClick={() => (isAsking.value = true)}>
        {text}
      </button>
    );
  }
  return (
    <span class="row" role="group" aria-label={question}>
      <span>{question}</span>
      <button
        type="button"
        // The focus was on the button that is gone.
        ref={(button) => button?.focus()}
        class={isDanger ? 'danger' : 'primary'}
        onClick={() => {
          isAsking.value = false;
          onYes();
        }}
      >
        {yes}
      </button>
      <button type="button" onClick={() => (isAsking.value = false)}>
        {no}
      </button>
    </span>
  );
}
