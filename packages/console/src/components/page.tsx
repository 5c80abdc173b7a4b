import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../strings.ts';

interface PageProps {
  title: string;
  lead?: string | undefined;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

let isFirst = true;

/** A page with its heading. The heading gets the focus, so that keyboards and screen readers begin there. */
export function Page({ title, lead, actions, children }: PageProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${t.product}`;
  }, [title]);
  useEffect(() => {
    if (!isFirst) heading.current?.focus({ preventScroll: true });
    isFirst = false;
    scrollTo(0, 0);
  }, []);
  return (
    <div class="page">
      <div class="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead === undefined ? null : <p class="lead">{lead}</p>}
        </div>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </div>
      {children}
    </div>
  );
}
