import type { Canvas, Colour } from './canvas.ts';

/** Draws over a background what looks like fire or smoke and is not. Made once for a clip, called for each frame. */
export type Disguise = (canvas: Canvas, time: number) => void;

export type Random = () => number;

export const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

/** Colours of lamps, and of flames. */
export const AMBER: readonly Colour[] = [
  [255, 170, 40],
  [255, 120, 20],
  [250, 60, 20],
  [255, 215, 90],
];
