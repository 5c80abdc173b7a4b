import { Mp4RefusedError } from './box.ts';

type Unit = -1 | 0 | 1;

/**
 * How a player turns or mirrors the image: the upper left of the matrix in the index, rows first, as whole numbers.
 * Quarter turns and mirroring only, so no pixel is computed from others.
 */
export type Turn = readonly [Unit, Unit, Unit, Unit];

export const UPRIGHT: Turn = [1, 0, 0, 1];

const ONE = 0x10000;

/**
 * The turn that a matrix of nine numbers at `at` describes; one of zeros counts as absent.
 * @throws Mp4RefusedError for any other angle, for scales and for perspective
 */
export function readTurn(data: Buffer, at: number, box: string): Turn {
  if (data.length < at + 36) throw new Mp4RefusedError(`'${box}' is incomplete`);
  const [a = 0, b = 0, u = 0, c = 0, d = 0, v = 0] = Array.from({ length: 6 }, (_, index) =>
    data.readInt32BE(at + 4 * index),
  );
  const turn = [a, b, c, d].map((value) => value / ONE);
  const isFlat = u === 0 && v === 0;
  if (!isFlat || !isTurn(turn)) throw new Mp4RefusedError(`'${box}' holds an odd rotation`);
  return turn;
}

/** First the track's, then the movie's, as players apply them. */
export function combine(track: Turn, movie: Turn): Turn {
  const [a, b, c, d] = track;
  const [e, f, g, h] = movie;
  const turn = [a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h];
  // Of two quarter turns, each row has one number that is not 0.
  return turn as unknown as Turn;
}

/** Whether width and height change places. */
export const isSideways = ([, b]: Turn): boolean => b !== 0;

/** Whether the matrix is absent. */
export const isZero = (turn: Turn): boolean => turn.every((value) => value === 0);

function isTurn(turn: number[]): turn is [Unit, Unit, Unit, Unit] {
  const [a = 0, b = 0, c = 0, d = 0] = turn.map(Math.abs);
  const isUpright = a === 1 && d === 1 && b === 0 && c === 0;
  const isTurned = a === 0 && d === 0 && b === 1 && c === 1;
  return isUpright || isTurned || (a === 0 && b === 0 && c === 0 && d === 0);
}
