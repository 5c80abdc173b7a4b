import { useSignal } from '@preact/signals';
import type { ImageDetection } from '@vision/client';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { ActionButton } from '../components/action-button.tsx';
import { DropZone } from '../components/drop-zone.tsx';
import { SceneChoice } from '../components/fields.tsx';
import { Filters } from '../components/filters.tsx';
import { ImageResult } from '../components/image-result.tsx';
import { Copyable, TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { ScopeNotice } from '../components/scope-notice.tsx';
import { short } from '../lib/format.ts';
import { chooseImages, curlOf } from '../lib/image-files.ts';
import { newRequestKey } from '../state/request-key.ts';
import { firstScene, useScene } from '../state/scenes.ts';
import { missingScopes, useSession } from '../state/session.ts';
import { useAction } from '../state/use-action.ts';
import { useUrls } from '../state/use-urls.ts';
import { t } from '../strings.ts';

interface Outcome {
  call: ImageDetection;
  sceneCode: string;
}

/** Detects objects in images of this computer. */
export function ImagesPage(): JSX.Element {
  const { files, note, sceneCode, isBusy, trouble, outcome, changed, add, detect, clear } = useImageCall();
  const mayCreate = !missingScopes.value.has('create');
  const isOff = files.value.length === 0 || sceneCode.value === '' || !mayCreate;
  return (
    <Page title={t.images.title} lead={t.images.lead}>
      <ScopeNotice scope="create" />
      <div class="stack">
        <DropZone
          onFiles={add}
          accept="image/jpeg,image/png,image/webp"
          isMultiple
          text={t.images.choose}
          hint={t.images.drop}
        />
        <p role="status" class="dim line">
          {note.value || (files.value.length === 0 ? t.images.empty : t.images.cost(files.value.length))}
        </p>
        <SceneChoice
          name={t.images.scene}
          value={sceneCode.value}
          onChange={(next) => {
            sceneCode.value = next;
            changed();
          }}
        />
        <div class="row">
          <ActionButton class="primary" isBusy={isBusy} isOff={isOff} onClick={detect}>
            {isBusy ? t.images.pending : t.images.submit}
          </ActionButton>
          {files.value.length > 0 ? (
            <button type="button" onClick={clear}>
              {t.images.clear}
            </button>
          ) : null}
        </div>
        {mayCreate ? <TroubleNotice trouble={trouble} /> : null}
      </div>
      <Results files={files.value} outcome={outcome.value} />
    </Page>
  );
}

function useImageCall() {
  const { client, scenes } = useSession();
  const files = useSignal<File[]>([]);
  const note = useSignal('');
  const sceneCode = useSignal(firstScene(scenes));
  const { run, isBusy, trouble, drop } = useAction();
  const outcome = useSignal<Outcome | undefined>(undefined);
  const requestKey = useSignal(newRequestKey());

  const changed = () => {
    outcome.value = undefined;
    drop();
    requestKey.value = newRequestKey();
  };
  const add = (added: File[]) => {
    const { taken, refused, isCut } = chooseImages(files.value, added);
    files.value = taken;
    const names = refused.map((name) => short(name, 40)).join(', ');
    note.value = [refused.length > 0 ? t.images.notTaken(names) : '', isCut ? t.images.tooMany : ''].join(' ').trim();
    changed();
  };
  const detect = () =>
    run(async (signal) => {
      const scene = sceneCode.value;
      const options = { scene_code: scene, idempotencyKey: requestKey.value, signal };
      outcome.value = { call: await client.detect(files.value, options), sceneCode: scene };
    });
  const clear = () => {
    files.value = [];
    note.value = '';
    changed();
  };
  return { files, note, sceneCode, isBusy, trouble, outcome, changed, add, detect, clear };
}

function Results({ files, outcome }: { files: readonly File[]; outcome: Outcome | undefined }): JSX.Element | null {
  const urls = useUrls(files);
  const scene = useScene(outcome?.sceneCode);
  const minScore = useSignal(0.5);
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (scene) minScore.value = scene.default_min_score;
  }, [scene]);
  if (files.length === 0) return null;
  const results = outcome?.call.results ?? [];
  const labels = [
    ...new Set(results.flatMap((one) => (one.status === 'succeeded' ? one.objects.map(({ label }) => label) : []))),
  ].toSorted();
  const filter = { minScore: minScore.value, hidden: hidden.value };
  return (
    <section class="results">
      {outcome ? (
        <Filters minScore={minScore} hidden={hidden} labels={labels} lowest={scene?.lower_bound ?? 0} />
      ) : null}
      <div class="gallery">
        {files.map((file, seq) => (
          <ImageResult
            key={urls[seq]}
            name={short(file.name, 60)}
            url={urls[seq]}
            result={results.find((one) => one.seq === seq)}
            filter={filter}
          />
        ))}
      </div>
      {outcome ? <ForPrograms files={files} outcome={outcome} /> : null}
    </section>
  );
}

function ForPrograms({ files, outcome }: { files: readonly File[]; outcome: Outcome }): JSX.Element {
  const curl = curlOf(location.origin, outcome.sceneCode, files);
  return (
    <>
      <p>
        <Copyable name={t.task.id} text={outcome.call.task_id} />
      </p>
      <details>
        <summary>{t.images.json}</summary>
        <pre tabIndex={0}>{JSON.stringify(outcome.call, null, 2)}</pre>
      </details>
      <details>
        <summary>{t.images.curl}</summary>
        <pre tabIndex={0}>{curl}</pre>
      </details>
    </>
  );
}
