import type { JSX } from 'preact';
import { inUtc, isDate, position, time } from '../lib/format.ts';

/** A moment: of a stream the time in the viewer's zone, in UTC on hover; of a video the position in it. */
export function When({ ms }: { ms: number }): JSX.Element {
  if (!isDate(ms)) return <>{position(ms)}</>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={inUtc(ms)}>
      {time(ms)}
    </time>
  );
}
