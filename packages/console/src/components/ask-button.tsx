import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ActionButton } from './action-button.tsx';

interface AskButtonProps {
  text: string;
  question: string;
  yes: string;
  no: string;
  isDanger?: boolean;
  isBusy?: boolean;
  onYes: () => void;
}

/** A button that asks before it acts. The focus goes to the answer, and comes back. */
export function AskButton(props: AskButtonProps): JSX.Element {
  const { text, question, yes, no, isDanger = false, isBusy = false, onYes } = props;
  const isAsking = useSignal(false);
  const wasAsked = useRef(false);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (isAsking.value || wasAsked.current) button.current?.focus();
    wasAsked.current = isAsking.value;
  }, [isAsking.value]);
  if (!isAsking.value) {
    return (
      <ActionButton buttonRef={button} isBusy={isBusy} onClick={() => (isAsking.value = true)}>
        {text}
      </ActionButton>
    );
  }
  const answer = () => {
    isAsking.value = false;
    onYes();
  };
  return (
    <span class="row" role="group" aria-label={question}>
      <span>{question}</span>
      <button key="yes" ref={button} type="button" class={isDanger ? 'danger' : 'primary'} onClick={answer}>
        {yes}
      </button>
      <button type="button" onClick={() => (isAsking.value = false)}>
        {no}
      </button>
    </span>
  );
}
