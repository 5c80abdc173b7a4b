import type { Scene, Usage } from '@vision/client';
import type { JSX } from 'preact';
import { Notice, TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { inUtc, moment } from '../lib/format.ts';
import { hrefOf } from '../lib/route.ts';
import { missingScopes, SCOPES, useSession } from '../state/session.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { t } from '../strings.ts';

const USAGE_EVERY_MS = 15_000;

/** What the key can do, and what is left of today. */
export function StartPage(): JSX.Element {
  const { client, scenes } = useSession();
  const mayRead = !missingScopes.value.has('read');
  return (
    <Page title={t.start.title}>
      {mayRead ? <UsageToday load={() => client.usage()} /> : <Notice kind="info" title={t.start.writeOnly} />}
      {missingScopes.value.has('create') ? <Notice kind="info" title={t.start.readOnly} /> : null}
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

function UsageToday({ load }: { load: () => Promise<Usage> }): JSX.Element {
  const { value, trouble } = useLoaded({ key: 'usage', load, everyMs: () => USAGE_EVERY_MS });
  const usage = value.value;
  return (
    <section aria-labelledby="left">
      <h2 id="left">{t.start.left}</h2>
      <TroubleNotice trouble={trouble.value} />
      <dl class="figures">
        <Left name={t.start.videoUnits} usage={usage?.video} />
        <Left name={t.start.imageUnits} usage={usage?.image} />
      </dl>
      <p class="dim" title={usage ? inUtc(usage.video.resets_at) : undefined}>
        {usage ? t.start.resets(moment(usage.video.resets_at)) : t.loading}
      </p>
    </section>
  );
}

function Left({ name, usage }: { name: string; usage: Usage['video'] | undefined }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {usage ? t.start.of(usage.remaining, usage.limit) : '–'}
        <meter aria-label={name} min={0} max={Math.max(1, usage?.limit ?? 1)} value={usage?.remaining ?? 0} />
      </dd>
    </div>
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
