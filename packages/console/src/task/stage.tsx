import type { JSX } from 'preact';
import { t } from '../strings.ts';
import { Frame } from './frame.tsx';
import { LiveStage } from './live-stage.tsx';
import { PastStage } from './past-stage.tsx';
import type { TaskView } from './task-view.ts';
import { VideoStage } from './video-stage.tsx';

/** The picture of a task: its video, its newest frame, or the boxes of a moment that has no image. */
export function Stage({ view }: { view: TaskView }): JSX.Element {
  const source = view.source.value.value;
  if (!source) return <Frame view={view}>{t.loading}</Frame>;
  if (source.kind === 'upload') return <VideoStage view={view} />;
  if (view.chosen.value || !view.isRunning) return <PastStage view={view} />;
  return <LiveStage view={view} />;
}
