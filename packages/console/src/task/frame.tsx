import type { ComponentChildren, JSX } from 'preact';
import { BoxLayer } from '../components/box-layer.tsx';
import type { TaskView } from './task-view.ts';

interface FrameProps {
  view: TaskView;
  media?: ComponentChildren;
  /** Whether the media is the frame that the boxes are of. */
  hasBoxes?: boolean;
  /** Stands in the middle while there is no media. */
  children?: ComponentChildren;
}

/** A place with the shape of the source, so that nothing moves when the image comes. */
export function Frame({ view, media, hasBoxes = true, children }: FrameProps): JSX.Element {
  const { width, height } = view.source.value.value?.image ?? view.shape.value ?? { width: 16, height: 9 };
  return (
    <div class="stage" style={{ aspectRatio: `${width} / ${height}` }}>
      {media}
      {hasBoxes ? <BoxLayer objects={view.shown.value} /> : null}
      {children === undefined ? null : <p class="stage-text">{children}</p>}
    </div>
  );
}
