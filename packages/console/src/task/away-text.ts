import { moment } from '../lib/format.ts';
import { t } from '../strings.ts';
import type { Source } from './task-view.ts';

/** Since when a stream gives no frame, and when its task fails if that lasts; undefined while frames arrive. */
export function awayText(source: Source | undefined): string | undefined {
  if (source?.away_since_ms === undefined || source.state === 'ended') return undefined;
  const { away_since_ms: since, gives_up_at_ms: end, last_frame_time_ms: last } = source;
  const text = (last === undefined ? t.task.awayFirst : t.task.away)(moment(since));
  return end === undefined ? text : `${text} ${t.task.givesUp(moment(end))}`;
}

/** What the source does. A stream waits before its first connection, and when it has been away for long. */
export const stateText = ({ state, away_since_ms: away }: Source): string =>
  state === 'waiting' && away !== undefined ? t.source.parked : t.source.states[state];
