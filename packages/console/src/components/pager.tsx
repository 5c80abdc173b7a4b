import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { ActionButton } from './action-button.tsx';

interface PagerProps {
  texts: { newest: string; older: string };
  /** Where the page that is shown begins; empty for the newest. */
  cursor: string;
  /** Where the next one begins; empty after the last, undefined while it is not known. */
  next: string | undefined;
  onCursor: (cursor: string) => void;
}

/** The ways to the newest page of a list and to the next older one. They stay once a list has had two pages. */
export function Pager({ texts, cursor, next = '', onCursor }: PagerProps): JSX.Element | null {
  const isNeeded = useRef(false);
  isNeeded.current ||= cursor !== '' || next !== '';
  if (!isNeeded.current) return null;
  return (
    <p class="row">
      <ActionButton isBusy={cursor === ''} onClick={() => onCursor('')}>
        {texts.newest}
      </ActionButton>
      <ActionButton isBusy={next === ''} onClick={() => onCursor(next)}>
        {texts.older}
      </ActionButton>
    </p>
  );
}
