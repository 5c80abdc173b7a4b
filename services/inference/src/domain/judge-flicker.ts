import { combine, ramp } from './evidence.ts';

/** One cell of a frame counts as aflame from `ON` of its pixels, and no longer below `OFF`; between, it stays. */
const ON = 0.6 * 255;
const OFF = 0.25 * 255;
/** Something that drives through makes a cell begin and end once. */
const CROSSINGS_OF_PASSING = 2;
/** Deviation of brightness over time beyond the noise of a camera. */
const ACTIVE_SWING = 6;

/** What a frame holds of the planes of `FireObservation` that flames are judged by. */
export interface FlameFrame {
  flame: Uint8Array;
  luma: Uint8Array;
  flameLuma: Uint8Array;
  flameRed: Uint8Array;
}

/** What became of a few cells over the frames of a window. */
export interface FlameEvidence {
  /** Cells that changed, or whose brightness did: where the flame is, if it is one. */
  active: number[];
  /** Share of the cells that ever changed and did so more often than what passes through makes them. */
  busy: number;
  /** Share of the changes that is not one common change of all cells: 0 for a lamp that blinks. */
  disorder: number;
  /** Mean deviation of brightness over time, in luma steps. */
  swing: number;
  /**
   * The same of the cells around that were never aflame, over `swing`: what moves in front changes both alike. Of the
   * calmer cells, since somebody may pass on one side of a fire.
   */
  surround: number;
  /** Correlation of brightness and redness: below 0 where bright parts are yellow and dark ones red. */
  paling: number;
  /** Brightness that one in ten of the flame-coloured samples passes. */
  peak: number;
}

/**
 * How cells begin and cease to be aflame from frame to frame. Flames flicker at 1 to 15 Hz, which five frames a second
 * cannot follow; but then each frame is a new draw of an outline that never rests, so a window tells as much by how
 * often cells at the outline change, whatever the true frequency is (compare B. U. Töreyin et al., "Computer vision
 * based method for real-time fire and flame detection", Pattern Recognition Letters 27, 2006, which counts crossings
 * at full rate). What stands still changes no cell; what passes changes each twice; what blinks changes all at once.
 * Hotter parts of a flame are brighter and yellower; a cloth of one colour is redder where it is brighter.
 */
export function measureFlames(frames: readonly FlameFrame[], cells: readonly number[]): FlameEvidence {
  const changing: number[] = [];
  const active: number[] = [];
  const around: number[] = [];
  let busy = 0;
  let everAflame = 0;
  for (const cell of cells) {
    const { crossings, wasOn } = followCell(frames, cell);
    if (wasOn) everAflame += 1;
    else around.push(cell);
    if (crossings > 0) changing.push(cell);
    if (crossings > CROSSINGS_OF_PASSING) busy += 1;
    if (wasOn && (crossings > 0 || deviationOf(frames, cell) > ACTIVE_SWING)) active.push(cell);
  }
  const swing = meanDeviation(frames, changing);
  return {
    active,
    // Where hardly any cell changes, one that does is noise: an outline has about as many cells as this.
    busy: busy / Math.max(1, changing.length, Math.sqrt(everAflame)),
    disorder: disorderOf(frames, changing),
    swing,
    surround: calmDeviation(frames, around) / Math.max(1, swing),
    ...measureColours(frames, active),
  };
}

/** How sure the evidence makes one that these cells burn, 0..1; `frames` is the number of those that were measured. */
export function scoreFlames(evidence: FlameEvidence, frames: number): number {
  const { active, busy, disorder, swing, surround, paling, peak } = evidence;
  return combine(
    ramp(active.length, 2, 7),
    ramp(busy, 0.08, 0.35),
    ramp(disorder, 0.25, 0.45),
    ramp(swing, 7, 20),
    ramp(surround, 0.7, 0.3),
    ramp(paling, 0, -0.5),
    ramp(peak, 132, 180),
    ramp(frames, 2, 9),
  );
}

function followCell(frames: readonly FlameFrame[], cell: number): { crossings: number; wasOn: boolean } {
  let crossings = 0;
  let wasOn = false;
  let isOn: boolean | undefined;
  for (const { flame } of frames) {
    const share = flame[cell] as number;
    const next: boolean = share >= ON || (share >= OFF && isOn === true);
    if (isOn !== undefined && next !== isOn) crossings += 1;
    isOn = next;
    wasOn ||= next;
  }
  return { crossings, wasOn };
}

const meanDeviation = (frames: readonly FlameFrame[], cells: readonly number[]) =>
  cells.reduce((sum, cell) => sum + deviationOf(frames, cell), 0) / Math.max(1, cells.length);

/** What three in ten of the cells do not exceed. */
function calmDeviation(frames: readonly FlameFrame[], cells: readonly number[]): number {
  const deviations = Float32Array.from(cells, (cell) => deviationOf(frames, cell)).sort();
  return deviations[Math.floor(0.3 * deviations.length)] ?? 0;
}

/** Standard deviation of a cell's brightness over the frames. */
function deviationOf(frames: readonly FlameFrame[], cell: number): number {
  let sum = 0;
  let squares = 0;
  for (const { luma } of frames) {
    const value = luma[cell] as number;
    sum += value;
    squares += value * value;
  }
  const mean = sum / frames.length;
  return Math.sqrt(Math.max(0, squares / frames.length - mean * mean));
}

/** Of the flame-coloured samples of cells: how redness goes with brightness, and how bright they get. */
function measureColours(frames: readonly FlameFrame[], cells: readonly number[]): { paling: number; peak: number } {
  const [lumas, reds]: [number[], number[]] = [[], []];
  for (const { flame, flameLuma, flameRed } of frames) {
    for (const cell of cells) {
      if ((flame[cell] as number) < OFF) continue;
      lumas.push(flameLuma[cell] as number);
      reds.push(flameRed[cell] as number);
    }
  }
  if (lumas.length < 8) return { paling: 0, peak: 0 };
  return {
    paling: correlationOf(lumas, reds),
    peak: lumas.toSorted((a, b) => b - a)[Math.floor(lumas.length / 10)] as number,
  };
}

function correlationOf(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [meanOf(a), meanOf(b)];
  const sums = { ab: 0, aa: 0, bb: 0 };
  a.forEach((value, index) => {
    const [x, y] = [value - meanA, (b[index] as number) - meanB];
    sums.ab += x * y;
    sums.aa += x * x;
    sums.bb += y * y;
  });
  return sums.aa * sums.bb === 0 ? 0 : sums.ab / Math.sqrt(sums.aa * sums.bb);
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** One minus the share of the first principal component in the changes of cells: how little they change as one. */
function disorderOf(frames: readonly FlameFrame[], cells: readonly number[]): number {
  const changes = frames.map(({ flame }) => Float32Array.from(cells, (cell) => flame[cell] as number));
  centre(changes, cells.length);
  const products = changes.map((a) => changes.map((b) => dot(a, b)));
  const total = products.reduce((sum, row, index) => sum + (row[index] as number), 0);
  return total === 0 ? 0 : 1 - largestEigenvalue(products) / total;
}

function centre(rows: readonly Float32Array[], columns: number): void {
  for (let column = 0; column < columns; column += 1) {
    const mean = rows.reduce((sum, row) => sum + (row[column] as number), 0) / rows.length;
    for (const row of rows) row[column] = (row[column] as number) - mean;
  }
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] as number) * (b[index] as number);
  return sum;
}

/** Of a symmetric matrix without negative eigenvalues, by power iteration; a hundredth is exact enough here. */
function largestEigenvalue(matrix: readonly (readonly number[])[]): number {
  let vector = matrix.map((_row, index) => 1 + 0.1 * index * (index % 2 === 0 ? 1 : -1));
  let value = 0;
  for (let round = 0; round < 20; round += 1) {
    const next = matrix.map((row) => dot(row, vector));
    value = Math.sqrt(dot(next, next));
    if (value === 0) return 0;
    vector = next.map((part) => part / value);
  }
  return value;
}
