import type { JSX } from 'preact';
import { missingScopes } from '../state/session.ts';
import type { Scope } from '../state/session.ts';
import { t } from '../strings.ts';
import { Notice } from './notice.tsx';

/** That the key may not do what a page is for. */
export function ScopeNotice({ scope }: { scope: Scope }): JSX.Element | null {
  if (!missingScopes.value.has(scope)) return null;
  return (
    <Notice kind="info" title={t.trouble.scope}>
      <p>{t.trouble.scopeText(scope)}</p>
    </Notice>
  );
}
