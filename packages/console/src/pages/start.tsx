import type { Scene } from '@vision/client';
import type { JSX } from 'preact';
import { Page } from '../components/page.tsx';
import { UsageToday } from '../components/usage-today.tsx';
import { hrefOf } from '../lib/route.ts';
import { missingScopes, SCOPES, useSession } from '../state/session.ts';
import { t } from '../strings.ts';

/** What the key can do, and what is left of today. */
export function StartPage(): JSX.Element {
  const { scenes } = useSession();
  return (
    <Page title={t.start.title}>
      {missingScopes.value.has('read') ? null : <UsageToday />}
      <section aria-labelledby="choose">
        <h2 id="choose">{t.start.choose}</h2>
        <ul class="cards">
          <Way page="images" title={t.start.images} text={t.start.imagesText} />
          <Way page="new-stream" title={t.start.stream} text={t.start.streamText} />
          <Way page="new-upload" title={t.start.upload} text={t.start.uploadText} />
        </ul>
      </section>
      <Key />
      <Scenes scenes={scenes.filter(({ enabled }) => enabled)} />
    </Page>
  );
}

function Way({ page, title, text }: { page: 'images' | 'new-stream' | 'new-upload'; title: string; text: string }) {
  return (
    <li class="card">
      <a class="card-link" href={hrefOf({ page })}>
        {title}
      </a>
      <p>{text}</p>
    </li>
  );
}

function Key(): JSX.Element {
  return (
    <section aria-labelledby="key">
      <h2 id="key">{t.start.key}</h2>
      <table class="list">
        <caption class="hidden">{t.start.key}</caption>
        <tbody>
          {SCOPES.map((scope) => (
            <tr key={scope}>
              <th scope="row">{t.start.scopes[scope]}</th>
              <td>
                <code>{scope}</code>
              </td>
              <td>{missingScopes.value.has(scope) ? t.start.mayNot : t.start.may}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Scenes({ scenes }: { scenes: readonly Scene[] }): JSX.Element | null {
  if (scenes.length === 0) return null;
  return (
    <section aria-labelledby="scenes">
      <h2 id="scenes">{t.start.scenes}</h2>
      <ul class="scenes">
        {scenes.map((scene) => (
          <li key={scene.scene_code}>
            <h3>
              <bdi>{scene.name}</bdi> <code>{scene.scene_code}</code>
            </h3>
            <p>
              <bdi>{scene.description}</bdi>
            </p>
            <p class="dim">
              {t.start.labels}: <bdi>{scene.labels.join(', ')}</bdi>
            </p>
            {scene.quality && scene.quality.limits.length > 0 ? (
              <details>
                <summary>{t.start.limits}</summary>
                <ul>
                  {scene.quality.limits.map((limit) => (
                    <li key={limit}>{limit}</li>
                  ))}
                </ul>
              </details>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}
