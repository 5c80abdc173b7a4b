import type { Corners, FireObservation } from './observe-fire.ts';

/** Cells of a frame that something speaks for, and the part of the picture that it means. */
export interface Place {
  cells: readonly number[];
  corners: Corners;
  score: number;
}

export interface Belief {
  /** The places with the scores that they deserve after all frames so far; every call is one frame. */
  update(places: readonly Place[], frame: FireObservation): Place[];
}

/**
 * What is thought of each cell: a running mean, so that what speaks for something for a moment counts little.
 * @param step weight of one frame
 */
export function createBelief(step: number): Belief {
  let cells = new Float32Array(0);
  return {
    update: (places, { luma }) => {
      if (cells.length !== luma.length) cells = new Float32Array(luma.length);
      const now = new Float32Array(luma.length);
      for (const { cells: own, score } of places)
        for (const cell of own) now[cell] = Math.max(now[cell] as number, score);
      cells.forEach((before, cell) => (cells[cell] = before + step * ((now[cell] as number) - before)));
      return places.map((place) => ({ ...place, score: Math.min(place.score, upperMean(place.cells, cells)) }));
    },
  };
}

/** Mean of the better half: the edge of what moves is always new. */
function upperMean(own: readonly number[], cells: Float32Array): number {
  const values = own.map((cell) => cells[cell] as number).sort((a, b) => b - a);
  const half = values.slice(0, Math.ceil(values.length / 2));
  return half.length === 0 ? 0 : half.reduce((sum, value) => sum + value, 0) / half.length;
}
