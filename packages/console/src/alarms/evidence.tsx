import type { Alarm } from '@vision/client';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Place } from '../components/place.tsx';
import { useSession } from '../state/session.ts';
import { canStillCome, snapshotOf } from '../state/snapshots.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { useUrls } from '../state/use-urls.ts';
import { t } from '../strings.ts';
import { objectsText } from './alarm-words.ts';

const ASPECT = 16 / 9;
const SOON_MS = 4_000;
/** Images of a track that lasts are stored some seconds after its beginning. */
const PATIENCE_MS = 60_000;

/** The object that raised the alarm: its image, or a sketch of its position. */
export function Evidence({ alarm }: { alarm: Alarm }): JSX.Element | null {
  const { task_id: taskId, evidence, track_ids: tracks } = alarm;
  const trackId = evidence.objects[0]?.track_id ?? tracks[0];
  const url = useImage(taskId, trackId);
  const boxes = evidence.objects.map(({ bbox }) => bbox);
  if (url !== undefined) {
    return (
      <div class="evidence">
        <img src={url} alt={t.alarms.image(objectsText(alarm))} />
      </div>
    );
  }
  if (boxes.length === 0) return <div class="evidence empty" />;
  return (
    <div class="evidence" title={t.alarms.noImage}>
      <Place boxes={boxes} aspect={ASPECT} />
    </div>
  );
}

function useImage(taskId: string, trackId: string | undefined): string | undefined {
  const { client } = useSession();
  const startedAt = useMemo(() => performance.now(), [taskId, trackId]);
  const { value } = useLoaded({
    key: `${taskId} ${trackId ?? ''}`,
    load: async (signal) => (trackId === undefined ? undefined : snapshotOf(client, { taskId, trackId }, signal)),
    everyMs: (image, refusal) => {
      const isWanted = !image && trackId !== undefined && canStillCome(refusal);
      return isWanted && performance.now() - startedAt <= PATIENCE_MS ? SOON_MS : undefined;
    },
  });
  const image = value.value;
  const files = useMemo(() => (image ? [image] : []), [image]);
  return useUrls(files)[0];
}
