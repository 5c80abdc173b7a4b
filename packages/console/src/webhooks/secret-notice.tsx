import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Copyable, Notice } from '../components/notice.tsx';
import { moment } from '../lib/format.ts';
import { t } from '../strings.ts';
import { freshSecret } from './fresh-secret.ts';

/** The secret that was just made, once. It is forgotten when the viewer has copied it, or leaves. */
export function SecretNotice({ endpointId }: { endpointId: string }): JSX.Element | null {
  useEffect(() => () => void (freshSecret.value = undefined), []);
  const made = freshSecret.value;
  if (made?.endpointId !== endpointId) return null;
  const forget = () => {
    freshSecret.value = undefined;
    // The button that had the focus is gone.
    document.querySelector('h1')?.focus();
  };
  return (
    <Notice kind="info" title={t.webhooks.secretTitle}>
      <p>
        {t.webhooks.secretText} {made.oldUntil === undefined ? '' : t.webhooks.overlap(moment(made.oldUntil))}
      </p>
      <Copyable name={t.webhooks.secret} text={made.secret} />
      <button type="button" onClick={() => forget()}>
        {t.webhooks.secretKept}
      </button>
    </Notice>
  );
}
