import type { ComponentChildren, JSX, Ref } from 'preact';

interface ActionButtonProps {
  /** While its action is under way: it keeps the focus, which a disabled button would lose. */
  isBusy: boolean;
  /** Whether there is nothing that it could do. */
  isOff?: boolean;
  /** Whether what it stands for is in force; undefined for a button that stands for nothing. */
  isPressed?: boolean;
  /** Sends the form around it, by Enter in a field as well. */
  isSubmit?: boolean;
  class?: string;
  buttonRef?: Ref<HTMLButtonElement>;
  onClick?: () => void;
  children: ComponentChildren;
}

/** A button whose action takes a moment. */
export function ActionButton(props: ActionButtonProps): JSX.Element {
  const { isBusy, isOff = false, isPressed, isSubmit = false, class: className, buttonRef, onClick, children } = props;
  return (
    <button
      type={isSubmit ? 'submit' : 'button'}
      class={className}
      disabled={isOff}
      aria-disabled={isBusy}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onClick?.();
      }}
      {...(isPressed === undefined ? {} : { 'aria-pressed': isPressed })}
      {...(buttonRef === undefined ? {} : { ref: buttonRef })}
    >
      {children}
    </button>
  );
}
