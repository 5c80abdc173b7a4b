import type { ComponentChildren, JSX } from 'preact';
import { hrefOf } from '../lib/route.ts';
import { route } from '../state/route.ts';
import { isOffline, signOut } from '../state/session.ts';
import { forgetTaskList } from '../state/task-list.ts';
import { t } from '../strings.ts';

const entries = [
  { page: 'start', text: t.nav.start, covers: ['start'] },
  { page: 'images', text: t.nav.images, covers: ['images', 'image-call'] },
  { page: 'tasks', text: t.nav.tasks, covers: ['tasks', 'task', 'new-stream', 'new-upload'] },
  { page: 'alarms', text: t.nav.alarms, covers: ['alarms', 'new-rule', 'new-rule-of', 'rule'] },
  { page: 'webhooks', text: t.nav.webhooks, covers: ['webhooks', 'webhook'] },
] as const;

/** What surrounds every page after the sign-in. */
export function Shell({ children }: { children: ComponentChildren }): JSX.Element {
  const isCurrent = (covers: readonly string[]) => covers.includes(route.value.page);
  return (
    <>
      <a class="skip" href="#main" onClick={focusMain}>
        {t.skip}
      </a>
      <header class="bar">
        <div class="bar-inner">
          <span class="brand">{t.product}</span>
          <nav aria-label={t.nav.label}>
            {entries.map(({ page, text, covers }) => (
              <a
                key={page}
                href={hrefOf({ page })}
                aria-current={isCurrent(covers) ? 'page' : undefined}
                onClick={page === 'tasks' ? forgetTaskList : undefined}
              >
                {text}
              </a>
            ))}
          </nav>
          <button type="button" class="quiet" onClick={() => signOut('asked')}>
            {t.nav.signOut}
          </button>
        </div>
      </header>
      <p class="banner" role="status" hidden={!isOffline.value}>
        {isOffline.value ? t.trouble.banner : ''}
      </p>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

/** The fragment is the page, so it cannot be the place to jump to as well. */
function focusMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
