import type { Track } from '@vision/client';
import { useMemo } from 'preact/hooks';
import { useSession } from './session.ts';
import { snapshotOf } from './snapshots.ts';
import { useLoaded } from './use-loaded.ts';
import { useUrls } from './use-urls.ts';

/** The address of a track's image; undefined while there is none. */
export function useTrackImage(taskId: string, track: Track | undefined): string | undefined {
  const { client } = useSession();
  const { track_id: trackId, snapshot } = track ?? {};
  const isThere = snapshot?.state === 'available';
  const { value } = useLoaded({
    key: trackId ?? '',
    // A better image takes the place of the first one, which is shown until it has come.
    variant: `${isThere} ${snapshot?.frame_id ?? ''}`,
    load: async (signal) =>
      trackId !== undefined && isThere
        ? snapshotOf(client, { taskId, trackId, frameId: snapshot.frame_id }, signal)
        : Promise.resolve(undefined),
  });
  const image = value.value;
  return useUrls(useMemo(() => (image ? [image] : []), [image]))[0];
}
