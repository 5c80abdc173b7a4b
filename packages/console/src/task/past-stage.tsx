import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { TroubleNotice } from '../components/notice.tsx';
import { inUtc, time } from '../lib/format.ts';
import { t } from '../strings.ts';
import { Frame } from './frame.tsx';
import type { TaskView } from './task-view.ts';
import { useFrames } from './use-frames.ts';

/** The boxes of an earlier moment of a stream, of which no image is stored. */
export function PastStage({ view }: { view: TaskView }): JSX.Element {
  const trouble = useFrames(view);
  const { chosen, position } = view;
  const last = view.source.value.value?.last_frame_time_ms;
  const at = chosen.value?.ms ?? last;
  useEffect(() => {
    position.value = at;
  }, [at]);
  return (
    <>
      <Frame view={view} />
      <p class="stage-note" title={at === undefined ? undefined : inUtc(at)}>
        {chosen.value === undefined || at === undefined ? t.task.ended : t.task.pastAt(time(at))}{' '}
        {view.isRunning ? (
          <button type="button" class="small" onClick={() => (chosen.value = undefined)}>
            {t.task.backToLive}
          </button>
        ) : null}
      </p>
      <TroubleNotice trouble={trouble} />
    </>
  );
}
