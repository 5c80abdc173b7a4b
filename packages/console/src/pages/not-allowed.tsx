import type { JSX } from 'preact';
import { Copyable } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { ScopeNotice } from '../components/scope-notice.tsx';
import type { Route } from '../lib/route.ts';
import type { Scope } from '../state/session.ts';
import { t } from '../strings.ts';

interface Need {
  scope: Scope;
  title: string;
}

const tasks: Need = { scope: 'read', title: t.nav.tasks };
const alarms: Need = { scope: 'read', title: t.nav.alarms };
const webhooks: Need = { scope: 'notify', title: t.nav.webhooks };

/** What each page cannot be without: it would show nothing, and ask in vain. */
const needs: Partial<Record<Route['page'], Need>> = {
  tasks,
  task: tasks,
  'image-call': { scope: 'read', title: t.images.call },
  alarms,
  'new-rule': alarms,
  'new-rule-of': alarms,
  rule: alarms,
  webhooks,
  webhook: webhooks,
};

/** What a page needs and the key does not have; undefined when the page can be shown. */
export function lackOf({ page }: Route, missing: ReadonlySet<string>): Need | undefined {
  const need = needs[page];
  return need && missing.has(need.scope) ? need : undefined;
}

/** In the place of a page that the key may not use. A task that it has just created has its id here. */
export function NotAllowedPage({ current, lack }: { current: Route; lack: Need }): JSX.Element {
  return (
    <Page title={lack.title}>
      <ScopeNotice scope={lack.scope} />
      {'taskId' in current ? (
        <p>
          <Copyable name={t.task.id} text={current.taskId} />
        </p>
      ) : null}
    </Page>
  );
}
