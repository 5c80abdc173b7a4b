import type { Track } from '@vision/client';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { Place } from '../components/place.tsx';
import { useTrackImage } from '../state/track-image.ts';
import { useSeen } from '../state/use-seen.ts';

interface TrackImageProps {
  taskId: string;
  track: Track;
  /** Width of the image by its height. */
  aspect: number;
}

/** The image of a track once it is seen, or a sketch of its place. Both take the same room. */
export function TrackImage({ taskId, track, aspect }: TrackImageProps): JSX.Element {
  const place = useRef<HTMLSpanElement>(null);
  const isWanted = useSeen(place);
  const url = useTrackImage(taskId, isWanted ? track : undefined);
  return (
    <span ref={place} class="track-image" style={{ aspectRatio: String(aspect) }}>
      {url === undefined ? <Place boxes={[track.best.bbox]} aspect={aspect} /> : <img src={url} alt="" />}
    </span>
  );
}
