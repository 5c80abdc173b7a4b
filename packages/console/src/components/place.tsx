import type { JSX } from 'preact';
import type { Box } from '../lib/boxes.ts';

interface PlaceProps {
  boxes: readonly Box[];
  /** Width of the image by its height. */
  aspect: number;
}

/** Where in the image objects were, as a sketch. */
export function Place({ boxes, aspect }: PlaceProps): JSX.Element {
  const [width, height] = [100 * aspect, 100];
  return (
    <svg class="place" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <rect class="place-image" width={width} height={height} rx="4" />
      {boxes.map((box, index) => (
        <rect
          key={index}
          class="place-box"
          x={(box.cx - box.width / 2) * width}
          y={(box.cy - box.height / 2) * height}
          width={box.width * width}
          height={box.height * height}
        />
      ))}
    </svg>
  );
}
