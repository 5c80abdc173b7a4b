import type { DetectedObject } from '@vision/contracts/detection';
import { createBelief } from './belief.ts';
import type { Belief, Place } from './belief.ts';
import { measureFlames, scoreFlames } from './judge-flicker.ts';
import { measureSmoke, scoreSmoke, smokeCandidates, smokeRegions } from './judge-smoke.ts';
import type { SmokeFrame } from './judge-smoke.ts';
import { CELL, cellsAround, shareOfPicture } from './observe-fire.ts';
import type { Corners, FireObservation } from './observe-fire.ts';
import { createSmokeBackground } from './smoke-background.ts';
import type { Change, SmokeBackground } from './smoke-background.ts';
import { toBoundingBox, toScore } from './to-objects.ts';

/** Frames that are remembered, and for how long: three seconds at five frames a second. */
const MEMORY_FRAMES = 16;
const MEMORY_MS = 8000;
/** Weight of one frame in what is believed. Passers-by look like smoke for a second, so smoke takes longer. */
const FIRE_STEP = 0.25;
const SMOKE_STEP = 0.1;

export interface FireWatch {
  /**
   * Fire and smoke in the next frame with raw scores, highest first. Scores rise with the evidence of earlier frames.
   *
   * @param timeMs time of the frame; a step back, or a picture of another size, starts the watch anew
   */
  update(timeMs: number, seen: FireObservation, labels: readonly string[]): DetectedObject[];
}

/**
 * Watches one source for fire and smoke, frame after frame. Keeps at most sixteen frames of cells, less than half a
 * MiB, and none that is older than eight seconds, so after a gap it starts anew; what the camera usually sees outlasts
 * a gap.
 */
export function createFireWatch(): FireWatch {
  let memory: Memory = forget();
  return {
    update: (timeMs, seen, labels) => {
      const last = memory.frames.at(-1);
      if (last && (timeMs < last.timeMs || seen.luma.length !== last.luma.length)) memory = forget();
      // Beliefs are about the frames that are remembered.
      if (last && timeMs - last.timeMs > MEMORY_MS) memory = { ...forget(), background: memory.background };
      return remember(memory, timeMs, seen)
        .filter(({ label }) => labels.includes(label))
        .sort((a, b) => b.score - a.score);
    },
  };
}

interface Frame extends SmokeFrame {
  flame: Uint8Array;
  flameLuma: Uint8Array;
  flameRed: Uint8Array;
}

interface Memory {
  frames: Frame[];
  background: SmokeBackground;
  fire: Belief;
  smoke: Belief;
}

const forget = (): Memory => ({
  frames: [],
  background: createSmokeBackground(),
  fire: createBelief(FIRE_STEP),
  smoke: createBelief(SMOKE_STEP),
});

function remember(memory: Memory, timeMs: number, seen: FireObservation): DetectedObject[] {
  const change = memory.background.compare(timeMs, seen);
  const candidate = change ? smokeCandidates(seen, change) : new Uint8Array(seen.luma.length);
  const { luma, flame, flameLuma, flameRed } = seen;
  memory.frames.push({ timeMs, luma, flame, flameLuma, flameRed, candidate });
  memory.frames = memory.frames.filter((frame) => timeMs - frame.timeMs <= MEMORY_MS).slice(-MEMORY_FRAMES);
  const fire = memory.fire.update(fireIn(memory.frames, seen), seen);
  const smoke = memory.smoke.update(change ? smokeIn(memory.frames, seen, change) : [], seen);
  return [...fire.flatMap((place) => toObject('fire', place)), ...smoke.flatMap((place) => toObject('smoke', place))];
}

function fireIn(frames: readonly Frame[], seen: FireObservation): Place[] {
  return seen.flames.map((region) => {
    const evidence = measureFlames(frames, cellsAround(region, seen.grid));
    const { active } = evidence;
    return { cells: active, corners: cut(region, active, seen), score: scoreFlames(evidence, frames.length) };
  });
}

function smokeIn(frames: readonly Frame[], seen: FireObservation, change: Change): Place[] {
  return smokeRegions(seen, (frames.at(-1) as Frame).candidate).map((region) => ({
    cells: region.pixels,
    corners: shareOfPicture(region, seen.picture, CELL),
    score: scoreSmoke(measureSmoke(region, frames, { seen, change }), frames.length),
  }));
}

/** A region without what never changes in it, such as a wall in the colours of the flames before it. */
function cut(region: Corners, active: readonly number[], { grid, picture }: FireObservation): Corners {
  const corners = shareOfPicture(region, picture);
  if (active.length === 0) return corners;
  const columns = active.map((cell) => cell % grid.width);
  const rows = active.map((cell) => Math.floor(cell / grid.width));
  const moved = {
    left: Math.min(...columns),
    top: Math.min(...rows),
    right: Math.max(...columns) + 1,
    bottom: Math.max(...rows) + 1,
  };
  const around = shareOfPicture(moved, picture, CELL);
  return {
    left: Math.max(corners.left, around.left),
    top: Math.max(corners.top, around.top),
    right: Math.min(corners.right, around.right),
    bottom: Math.min(corners.bottom, around.bottom),
  };
}

function toObject(label: string, { score, corners }: Place): DetectedObject[] {
  const bbox = toBoundingBox(corners);
  return bbox ? [{ label, score: toScore(score), bbox }] : [];
}
