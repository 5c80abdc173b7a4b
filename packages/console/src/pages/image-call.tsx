import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Filters } from '../components/filters.tsx';
import { ImageResult } from '../components/image-result.tsx';
import { Copyable, TroubleNotice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { hrefOf } from '../lib/route.ts';
import { dataOf } from '../state/data.ts';
import { useScene } from '../state/scenes.ts';
import { useSession } from '../state/session.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { t } from '../strings.ts';

/** The stored result of an image call. */
export function ImageCallPage({ taskId }: { taskId: string }): JSX.Element {
  const { client } = useSession();
  const { value, trouble } = useLoaded({
    key: taskId,
    load: async (signal) => {
      const params = { path: { task_id: taskId } };
      return dataOf(await client.api.GET('/v1/vision/image-detections/{task_id}', { params, signal }));
    },
  });
  const call = value.value;
  const scene = useScene(call?.scene_code);
  const minScore = useSignal(0.5);
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (scene) minScore.value = scene.default_min_score;
  }, [scene]);
  const results = call?.results ?? [];
  const labels = [
    ...new Set(results.flatMap((one) => (one.status === 'succeeded' ? one.objects.map(({ label }) => label) : []))),
  ].toSorted();
  return (
    <Page
      title={t.images.call}
      lead={t.images.callLead}
      actions={
        <a class="button" href={hrefOf({ page: 'tasks' })}>
          {t.back}
        </a>
      }
    >
      <p>
        <Copyable name={t.task.id} text={taskId} />
      </p>
      <TroubleNotice trouble={trouble.value} />
      {call ? (
        <section class="results">
          <Filters minScore={minScore} hidden={hidden} labels={labels} lowest={scene?.lower_bound ?? 0} />
          <div class="gallery">
            {results.map((result) => (
              <ImageResult
                key={result.seq}
                name={t.images.image(result.seq)}
                url={undefined}
                result={result}
                filter={{ minScore: minScore.value, hidden: hidden.value }}
              />
            ))}
          </div>
        </section>
      ) : null}
    </Page>
  );
}
