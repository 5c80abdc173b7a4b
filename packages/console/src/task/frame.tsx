import type { ComponentChildren, JSX } from 'preact';
import { BoxLayer } from '../components/box-layer.tsx';
import type { TaskView } from './task-view.ts';

interface FrameProps {
  view: TaskView;
  media?: ComponentChildren;
  /** Stands in the middle while there is no media. */
  children?: ComponentChildren;
}

/** A place with the shape of the source, so that nothing moves when the image comes. */
export function Frame({ view, media, children }: FrameProps): JSX.Element {
  const { width, height } = view.source.value.value?.image ?? view.shape.value ?? { width: 16, height: 9 };
  return (
    <div class="stage" style={{ aspectRatio: `${width} / ${height}` }}>
      {media}
      <BoxLayer objects={view.shown.value} />
      {children === undefined ? null : <p class="stage-text">{children}</p>}
    </div>
  );
}
