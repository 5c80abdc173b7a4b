import type { Box } from '../../../services/inference/src/tracking/box-motion.ts';
import type { Frame, Sequence } from '../sequence.ts';
import { createChance, createWander } from './chance.ts';
import type { DetectorModel } from './detector-model.ts';
import { modelOf } from './detector-model.ts';
import { createObserver, cut } from './observe.ts';
import type { Seen } from './observe.ts';
import { scenes } from './scenes.ts';
import type { Post, Scene } from './scenes.ts';
import { boxOfBody } from './world.ts';

const STEP = 0.04;
/** Things are part of the truth while this much of them is in the picture, and visible. */
const LEAST_INSIDE = 0.3;
const LEAST_VISIBLE = 0.1;

/** Every scene of a seed at the given frame rate: what is there, and what a detector with those errors makes of it. */
export function simulate(seed: number, fps: number, half: Sequence['half']): Sequence[] {
  return scenes(createChance(seed)).map((scene, index) => ({
    source: `${scene.name}, ${fps}/s`,
    half,
    fps,
    aspect: scene.camera.aspect,
    frames: film(scene, seed * 100 + index, fps, modelOf(seed)),
  }));
}

function film(scene: Scene, seed: number, fps: number, model: DetectorModel): Frame[] {
  const chance = createChance(seed);
  const observe = createObserver(chance, model, scene.label, scene.camera.aspect);
  const [shakeX, shakeY] = [createWander(chance, scene.shake, 0.3), createWander(chance, scene.shake, 0.3)];
  const frames: Frame[] = [];
  let untilFrame = 0;
  for (let time = 0; time < scene.seconds; time += STEP) {
    const present = scene.bodies.filter(({ from, to }) => time >= from && time <= to);
    for (const body of present) body.move(STEP);
    untilFrame -= STEP;
    if (untilFrame > 1e-9) continue;
    untilFrame += 1 / fps;
    const offset = { x: shakeX(1 / fps) / scene.camera.aspect, y: shakeY(1 / fps) };
    const things = present
      .toSorted((a, b) => a.y - b.y)
      .map((body) => ({ id: body.id, foot: body.y, bbox: moved(boxOfBody(scene.camera, body), offset) }))
      .filter(({ bbox }) => insideShare(bbox) >= LEAST_INSIDE);
    const seen = visibleParts(things, scene.posts);
    frames.push({
      timeMs: Math.round(time * 1000),
      truth: seen.filter(({ visible }) => visible >= LEAST_VISIBLE).map(({ id, bbox }) => ({ id, bbox: cut(bbox) })),
      found: observe(seen, 1 / fps),
    });
  }
  return frames;
}

const moved = (box: Box, { x, y }: { x: number; y: number }): Box => ({ ...box, cx: box.cx + x, cy: box.cy + y });

function insideShare(box: Box): number {
  const inside = cut(box);
  const isOutside = Math.abs(box.cx - 0.5) > 0.5 + box.width / 2 || Math.abs(box.cy - 0.5) > 0.5 + box.height / 2;
  return isOutside ? 0 : (inside.width * inside.height) / (box.width * box.height);
}

const ACROSS = 6;
const DOWN = 12;
/** A body fills about this much of the width of its box. */
const BODY_WIDTH = 0.75;

/** What of each thing is not hidden by those nearer to the camera, by a grid of points on it. */
function visibleParts(things: { id: number; foot: number; bbox: Box }[], posts: Post[]): Seen[] {
  return things.map(({ id, foot, bbox }, index) => {
    const nearer = things.slice(index + 1).map((other) => other.bbox);
    const before = posts.filter((post) => post.foot > foot);
    const free: { x: number; y: number }[] = [];
    for (let point = 0; point < ACROSS * DOWN; point += 1) {
      const x = bbox.cx + (((point % ACROSS) + 0.5) / ACROSS - 0.5) * bbox.width;
      const y = bbox.cy + ((Math.floor(point / ACROSS) + 0.5) / DOWN - 0.5) * bbox.height;
      const isHidden =
        before.some((post) => x > post.left && x < post.right && y > post.top && y < post.bottom) ||
        nearer.some(
          (box) => Math.abs(x - box.cx) < (BODY_WIDTH * box.width) / 2 && Math.abs(y - box.cy) < box.height / 2,
        );
      if (!isHidden) free.push({ x, y });
    }
    return { id, bbox, visible: free.length / (ACROSS * DOWN), visibleBox: around(free, bbox) };
  });
}

function around(points: { x: number; y: number }[], whole: Box): Box {
  if (points.length === 0) return whole;
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  return {
    cx: (left + right) / 2,
    cy: (top + bottom) / 2,
    width: right - left + whole.width / ACROSS,
    height: bottom - top + whole.height / DOWN,
  };
}
