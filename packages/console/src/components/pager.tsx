import type { JSX } from 'preact';

interface PagerProps {
  texts: { newest: string; older: string };
  /** Where the page that is shown begins; empty for the newest. */
  cursor: string;
  /** Where the next one begins; empty after the last, undefined while it is not known. */
  next: string | undefined;
  onCursor: (cursor: string) => void;
}

/** The ways to the newest page of a list and to the next older one. */
export function Pager({ texts, cursor, next = '', onCursor }: PagerProps): JSX.Element {
  return (
    <p class="row">
      {cursor === '' ? null : (
        <button type="button" onClick={() => onCursor('')}>
          {texts.newest}
        </button>
      )}
      {next === '' ? null : (
        <button type="button" onClick={() => onCursor(next)}>
          {texts.older}
        </button>
      )}
    </p>
  );
}
