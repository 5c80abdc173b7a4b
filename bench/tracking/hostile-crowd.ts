import type { Detected } from '../../services/inference/src/tracking/track.ts';
import { createChance } from './simulation/chance.ts';

const FRAMES = 40;
const OBJECTS = 100;

/**
 * As many objects as a detector gives, close together. Those that jump are elsewhere in every frame, which leaves a
 * tracker with the tracks of all frames that it remembers.
 */
export function crowd(kind: 'walking' | 'jumping'): Detected[][] {
  const chance = createChance(7);
  const places = Array.from({ length: OBJECTS }, () => ({ x: chance.between(0.2, 0.6), y: chance.between(0.3, 0.7) }));
  return Array.from({ length: FRAMES }, (_, frame) =>
    places.map((place) => ({
      label: 'person',
      score: chance.between(0.3, 1),
      bbox: {
        cx: kind === 'walking' ? place.x + 0.004 * frame : chance.between(0.2, 0.8),
        cy: kind === 'walking' ? place.y : chance.between(0.2, 0.8),
        width: 0.1,
        height: 0.3,
      },
    })),
  );
}
