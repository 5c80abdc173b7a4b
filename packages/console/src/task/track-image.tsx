import type { Track } from '@vision/client';
import type { JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { Place } from '../components/place.tsx';
import { useSession } from '../state/session.ts';
import { snapshotOf } from '../state/snapshots.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { useSeen } from '../state/use-seen.ts';
import { useUrls } from '../state/use-urls.ts';

interface TrackImageProps {
  taskId: string;
  track: Track;
  /** Width of the image by its height. */
  aspect: number;
}

/** The image of a track once it is seen, or a sketch of its place. Both take the same room. */
export function TrackImage({ taskId, track, aspect }: TrackImageProps): JSX.Element {
  const { client } = useSession();
  const place = useRef<HTMLSpanElement>(null);
  const isWanted = useSeen(place) && track.snapshot.state === 'available';
  const { value } = useLoaded({
    key: track.track_id,
    variant: String(isWanted),
    load: async (signal) =>
      isWanted ? snapshotOf(client, { taskId, trackId: track.track_id }, signal) : Promise.resolve(undefined),
  });
  const image = value.value;
  const [url] = useUrls(useMemo(() => (image ? [image] : []), [image]));
  return (
    <span ref={place} class="track-image" style={{ aspectRatio: String(aspect) }}>
      {url === undefined ? <Place boxes={[track.best.bbox]} aspect={aspect} /> : <img src={url} alt="" />}
    </span>
  );
}
