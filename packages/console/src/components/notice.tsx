import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { Trouble } from '../lib/trouble.ts';
import { t } from '../strings.ts';

interface NoticeProps {
  kind: 'info' | 'fault';
  title: string;
  children?: ComponentChildren;
}

/** A message that stays on the page. */
export function Notice({ kind, title, children }: NoticeProps): JSX.Element {
  return (
    <div class={`notice ${kind}`} role={kind === 'fault' ? 'alert' : 'status'}>
      <p class="notice-title">{title}</p>
      {children}
    </div>
  );
}

/** What went wrong, with the trace ID to copy; nothing without trouble. */
export function TroubleNotice({ trouble, onRetry }: { trouble: Trouble | undefined; onRetry?: () => void }) {
  if (!trouble) return null;
  const isCalm = trouble.reason === 'scope_missing' || trouble.reason === 'offline';
  return (
    <Notice kind={isCalm ? 'info' : 'fault'} title={trouble.title}>
      <p>{trouble.text}</p>
      {trouble.traceId === undefined || trouble.traceId === '' ? null : (
        <Copyable name={t.trouble.traceId} text={trouble.traceId} />
      )}
      {onRetry ? (
        <button type="button" onClick={onRetry}>
          {t.retry}
        </button>
      ) : null}
    </Notice>
  );
}

/** A value with a button that copies it. Where that does not work, it selects the value and says so. */
export function Copyable({ name, text }: { name: string; text: string }): JSX.Element {
  const outcome = useSignal<'none' | 'copied' | 'selected'>('none');
  const value = useRef<HTMLElement>(null);
  const copy = async () => {
    if (await copied(text)) {
      outcome.value = 'copied';
      setTimeout(() => (outcome.value = 'none'), 2000);
    } else if (value.current) {
      getSelection()?.selectAllChildren(value.current);
      outcome.value = 'selected';
    }
  };
  const action = outcome.value === 'copied' ? t.copied : t.copy;
  return (
    <span class="copyable">
      <span class="copy-name">{name}</span> <code ref={value}>{text}</code>{' '}
      <button type="button" class="small" aria-label={`${action} ${name}`} onClick={() => void copy()}>
        {action}
      </button>{' '}
      <span role="status">{outcome.value === 'selected' ? t.notCopied : ''}</span>
    </span>
  );
}

/** Only pages by https or of this machine have a clipboard, and the viewer can refuse it. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
