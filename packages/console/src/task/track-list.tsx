import { useSignal } from '@preact/signals';
import type { Track } from '@vision/client';
import type { JSX } from 'preact';
import { ActionButton } from '../components/action-button.tsx';
import { TroubleNotice } from '../components/notice.tsx';
import { When } from '../components/when.tsx';
import { isWanted } from '../lib/boxes.ts';
import { duration, score, short } from '../lib/format.ts';
import { t } from '../strings.ts';
import type { TaskView } from './task-view.ts';
import { TrackImage } from './track-image.tsx';
import { useTracks } from './use-tracks.ts';

/** Every object once; a choice shows its best moment. */
export function TrackList({ view }: { view: TaskView }): JSX.Element {
  const { tracks, isLoaded, trouble, hasMore, isLoadingMore, more } = useTracks(view);
  const chosen = useSignal('');
  const filter = { minScore: view.minScore.value, hidden: view.hidden.value };
  const wanted = tracks.filter(({ label, best }) => isWanted({ label, score: best.score }, filter));
  const { width, height } = view.source.value.value?.image ?? { width: 16, height: 9 };
  const choose = (track: Track) => {
    chosen.value = track.track_id;
    view.chosen.value = { ms: track.best.frame_time_ms, track };
  };
  return (
    <section class="panel" aria-labelledby="tracks">
      <div class="panel-head">
        <h2 id="tracks">{t.tracks.title}</h2>
        <span class="dim">{isLoaded ? t.tracks.shown(wanted.length, tracks.length) : ''}</span>
      </div>
      <p class="dim">{t.tracks.lead}</p>
      <TroubleNotice trouble={trouble} />
      {wanted.length === 0 ? (
        <p class="dim">{isLoaded ? textWithout(tracks, view.isRunning) : t.loading}</p>
      ) : (
        <ul class="wall">
          {wanted.map((track) => (
            <li key={track.track_id}>
              <TrackButton
                taskId={view.taskId}
                track={track}
                aspect={width / height}
                isChosen={chosen.value === track.track_id}
                onChoose={() => choose(track)}
              />
            </li>
          ))}
        </ul>
      )}
      {hasMore ? (
        <ActionButton isBusy={isLoadingMore} onClick={more}>
          {isLoadingMore ? t.loading : t.tracks.more}
        </ActionButton>
      ) : null}
    </section>
  );
}

/** Why no track is on the page. */
function textWithout(tracks: readonly Track[], isRunning: boolean): string {
  if (tracks.length > 0) return t.tracks.emptyFiltered;
  return isRunning ? t.tracks.empty : t.tracks.emptyEnded;
}

interface TrackButtonProps {
  taskId: string;
  track: Track;
  /** Width of the image by its height. */
  aspect: number;
  isChosen: boolean;
  onChoose: () => void;
}

function TrackButton({ taskId, track, aspect, isChosen, onChoose }: TrackButtonProps): JSX.Element {
  const { label, best, state, frames, first_time_ms: from, last_time_ms: to } = track;
  const length = frames === 1 ? t.tracks.oneFrame : duration(to - from);
  return (
    <button type="button" class="track" aria-pressed={isChosen} onClick={onChoose}>
      <TrackImage taskId={taskId} track={track} aspect={aspect} />
      <span class="track-label">
        <bdi>{short(label, 40)}</bdi>
      </span>
      <span>
        <When ms={from} /> · {state === 'active' ? t.tracks.active : length}
      </span>
      <span class="dim">{t.tracks.best(score(best.score))}</span>
    </button>
  );
}
