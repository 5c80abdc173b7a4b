import { connectedRegions } from './connected-regions.ts';
import type { Region } from './connected-regions.ts';
import { combine, ramp } from './evidence.ts';
import { measureDrift } from './measure-drift.ts';
import type { FireObservation } from './observe-fire.ts';
import type { Change } from './smoke-background.ts';

/** Farthest that smoke lies from grey, and its strongest fine detail, in the steps of `FireObservation`. */
const MAX_COLOUR = 4 * 18;
const MAX_DETAIL = 8 * 6;
/** Smallest share of the picture that counts as smoke. */
const MIN_AREA = 0.006;

/** A frame together with the cells that could be smoke in it. */
export interface SmokeFrame {
  timeMs: number;
  luma: Uint8Array;
  candidate: Uint8Array;
}

/** What speaks for smoke in one region, each with its own unit. */
export interface SmokeEvidence {
  /** Share of the recent frames in which a cell was a candidate. */
  lasting: number;
  /** Step at the edge over the lift inside: 1 for a thing with an outline, small for what fades. */
  hardness: number;
  /** Fine detail now over that of the background; 1 where the background has none. */
  detailLeft: number;
  /** Fine detail, in luma steps, that the cells around have and the background has not: the outline of a thing. */
  outline: number;
  /** Area over that of two seconds ago. */
  growth: number;
  /** Share of what was covered one second and two seconds ago that still is: a passer-by leaves, smoke stays. */
  stays: number;
  /** Cells for each frame, upwards. */
  rise: number;
  /** The same sideways, without sign. */
  aside: number;
  /** Mean change of brightness from frame to frame, in luma steps and over the change against the background. */
  activity: number;
  haste: number;
  /** Share of the picture's width. */
  width: number;
}

/** Cells that could be smoke: greyish, without fine detail, and different from what the camera usually sees. */
export function smokeCandidates({ colour, detail, luma }: FireObservation, { changed }: Change): Uint8Array {
  return Uint8Array.from(changed, (is, cell) =>
    is && (colour[cell] as number) < MAX_COLOUR && (detail[cell] as number) < MAX_DETAIL && (luma[cell] as number) > 40
      ? 1
      : 0,
  );
}

/** Regions of candidates in the newest frame that are large enough, largest first. */
export function smokeRegions({ grid }: FireObservation, candidate: Uint8Array): Region[] {
  return connectedRegions(candidate, grid, 1).filter(
    ({ pixels }) => pixels.length >= Math.max(10, MIN_AREA * candidate.length),
  );
}

/** Measures a region of the newest of `frames`. */
export function measureSmoke(
  region: Region,
  frames: readonly SmokeFrame[],
  { seen, change }: { seen: FireObservation; change: Change },
): SmokeEvidence {
  const cells = region.pixels;
  const recent = frames.slice(-11);
  const activity = activityOf(recent, cells);
  const drift = measureDrift(
    recent.map(({ luma }) => luma),
    cells,
    seen.grid,
  );
  const areas = recent.map(({ candidate }) => areaIn(candidate, region, seen.grid.width));
  const older = Math.max(1, mean(areas.slice(0, Math.max(1, areas.length - 6))));
  return {
    lasting: mean(cells.map((cell) => mean(recent.map(({ candidate }) => candidate[cell] as number)))),
    hardness: hardnessOf(region, change.lift, seen.grid.width),
    detailLeft: detailLeftIn(cells, seen.detail, change.detailBefore),
    outline: outlineOf(region, { seen, change }),
    growth: mean(areas.slice(-3)) / older,
    stays: staysOf(region, recent, seen.grid.width),
    rise: -drift.y,
    aside: Math.abs(drift.x),
    activity,
    haste: activity / Math.max(1, mean(cells.map((cell) => Math.abs(change.lift[cell] as number)))),
    width: (region.right - region.left) / seen.grid.width,
  };
}

/**
 * How sure the evidence makes one, 0..1: what lasts, fades at its edges and never rests, and either grows or rises
 * (B. U. Töreyin, Y. Dedeoğlu and A. E. Çetin, "Wavelet based real-time smoke detection in video", EUSIPCO 2005, for
 * the lost detail and the edges; growth and rise as in most work since). `frames` is the number that was measured.
 */
export function scoreSmoke(evidence: SmokeEvidence, frames: number): number {
  const { lasting, stays, hardness, outline, detailLeft, growth, rise, aside, activity, haste, width } = evidence;
  return combine(
    ramp(lasting, 0.15, 0.5),
    ramp(stays, 0.4, 0.75),
    // Things have hard edges; fog has none at all.
    Math.min(ramp(hardness, 0.8, 0.5), ramp(hardness, 0.15, 0.32)),
    ramp(outline, 1.1, 0.5),
    Math.max(0.5, ramp(detailLeft, 0.95, 0.65)),
    Math.max(ramp(growth, 1.1, 1.5), ramp(rise - 0.5 * aside, 0.03, 0.15)),
    ramp(aside, 0.9, 0.4),
    Math.min(ramp(activity, 0.8, 1.8), ramp(haste, 0.55, 0.35)),
    Math.max(0.15, ramp(rise - 0.5 * aside, -0.02, 0.06)),
    ramp(width, 1, 0.8),
    ramp(frames, 2, 9),
  );
}

function staysOf({ left, top, right, bottom }: Region, frames: readonly SmokeFrame[], width: number): number {
  const now = (frames.at(-1) as SmokeFrame).candidate;
  const shares = [5, 10].map((back) => {
    const before = (frames.at(-1 - Math.min(back, frames.length - 1)) as SmokeFrame).candidate;
    let [was, still] = [0, 0];
    for (let row = top; row < bottom; row += 1) {
      for (let cell = row * width + left; cell < row * width + right; cell += 1) {
        was += before[cell] as number;
        still += (before[cell] as number) & (now[cell] as number);
      }
    }
    // What was not there a second ago says nothing yet.
    return was === 0 ? 0.5 : still / was;
  });
  return Math.min(...shares);
}

function areaIn(candidate: Uint8Array, { left, top, right, bottom }: Region, width: number): number {
  let area = 0;
  for (let row = top; row < bottom; row += 1) {
    for (let column = left; column < right; column += 1) area += candidate[row * width + column] as number;
  }
  return area;
}

/** How steeply the lift falls at the edge of a region over its height inside; edges of the picture do not count. */
function hardnessOf({ pixels }: Region, lift: Float32Array, width: number): number {
  const inside = new Set(pixels);
  const height = lift.length / width;
  let steps = 0;
  let edges = 0;
  for (const cell of pixels) {
    const column = cell % width;
    const row = (cell - column) / width;
    for (const [next, exists] of [
      [cell - 1, column > 0],
      [cell + 1, column < width - 1],
      [cell - width, row > 0],
      [cell + width, row < height - 1],
    ] as const) {
      if (!exists || inside.has(next)) continue;
      steps += Math.abs((lift[cell] as number) - (lift[next] as number));
      edges += 1;
    }
  }
  const height0 = mean(pixels.map((cell) => Math.abs(lift[cell] as number)));
  return edges === 0 || height0 === 0 ? 1 : steps / edges / height0;
}

function outlineOf({ pixels }: Region, { seen, change }: { seen: FireObservation; change: Change }): number {
  const { width } = seen.grid;
  const inside = new Set(pixels);
  const around = new Set<number>();
  for (const cell of pixels) {
    for (const next of [cell - 1, cell + 1, cell - width, cell + width]) {
      if (next >= 0 && next < seen.detail.length && !inside.has(next)) around.add(next);
    }
  }
  const added = [...around].map((cell) =>
    Math.max(0, (seen.detail[cell] as number) - (change.detailBefore[cell] as number)),
  );
  return mean(added) / 8;
}

function detailLeftIn(cells: readonly number[], now: Uint8Array, before: Float32Array): number {
  let [left, was] = [0, 0];
  for (const cell of cells) {
    // Cells without detail cannot lose any.
    if ((before[cell] as number) < 12) continue;
    left += now[cell] as number;
    was += before[cell] as number;
  }
  return was === 0 ? 1 : left / was;
}

function activityOf(frames: readonly SmokeFrame[], cells: readonly number[]): number {
  let sum = 0;
  for (let index = 1; index < frames.length; index += 1) {
    const [before, after] = [(frames[index - 1] as SmokeFrame).luma, (frames[index] as SmokeFrame).luma];
    for (const cell of cells) sum += Math.abs((after[cell] as number) - (before[cell] as number));
  }
  return frames.length < 2 ? 0 : sum / (frames.length - 1) / cells.length;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
