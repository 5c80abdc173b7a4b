import type { ComponentChildren, JSX } from 'preact';
import { useSignal } from '@preact/signals';
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

/** A value with a button that copies it. */
export function Copyable({ name, text }: { name: string; text: string }): JSX.Element {
  const isCopied = useSignal(false);
  const copy = async () => {
    // Only pages by https or of this machine have a clipboard.
    await (navigator.clipboard as Clipboard | undefined)?.writeText(text).catch(() => undefined);
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), 2000);
  };
  return (
    <span class="copyable">
      <span class="copy-name">{name}</span> <code>{text}</code>{' '}
      <button type="button" class="small" aria-label={`${t.copy} ${name}`} onClick={() => void copy()}>
        {isCopied.value ? t.copied : t.copy}
      </button>
    </span>
  );
}
