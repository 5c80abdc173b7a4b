import type { JSX } from 'preact';
import { Page } from '../components/page.tsx';
import { hrefOf } from '../lib/route.ts';
import { t } from '../strings.ts';

export function UnknownPage(): JSX.Element {
  return (
    <Page title={t.unknownPage.title} lead={t.unknownPage.text}>
      <p>
        <a href={hrefOf({ page: 'start' })}>{t.unknownPage.link}</a>
      </p>
    </Page>
  );
}
