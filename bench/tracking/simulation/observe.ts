import type { Box } from '../../../services/inference/src/tracking/box-motion.ts';
import { bufferedIou } from '../../../services/inference/src/tracking/box-motion.ts';
import type { Detected } from '../../../services/inference/src/tracking/track.ts';
import { createWander } from './chance.ts';
import type { Chance } from './chance.ts';
import type { DetectorModel } from './detector-model.ts';

/** A thing in the picture, nearest last. */
export interface Seen {
  id: number;
  bbox: Box;
  /** Part of it that nothing hides, 0..1, and the box around that part. */
  visible: number;
  visibleBox: Box;
}

const NMS_IOU = 0.6;

/** What a detector of the given kind makes of one moment after another. */
export function createObserver(chance: Chance, model: DetectorModel, label: string, aspect: number) {
  const moods = new Map<number, (seconds: number) => number>();
  const lairs = Array.from({ length: model.falsePlaces }, () => ({
    bbox: boxAt(chance, aspect),
    mood: createWander(chance, model.falseWander, model.memorySeconds),
  }));

  const moodOf = (id: number) => {
    const mood = moods.get(id) ?? createWander(chance, model.wander, model.memorySeconds);
    moods.set(id, mood);
    return mood;
  };

  return (seen: Seen[], seconds: number): Detected[] => {
    const boxes: Detected[] = [];
    const add = (logit: number, bbox: Box) => {
      const score = 1 / (1 + Math.exp(-logit));
      if (score >= model.lowest) boxes.push({ label, score: Math.round(score * 1e4) / 1e4, bbox: cut(bbox) });
    };
    for (const { id, bbox, visible, visibleBox } of seen) {
      const logit = model.logit + moodOf(id)(seconds) + chance.normal(model.flicker) - model.hiding * (1 - visible);
      // A detector often guesses the hidden part of what is mostly visible, and shows the visible part of the rest.
      const base = chance.happens(visible) ? bbox : visibleBox;
      if (visible > 0.05) add(logit, shaken(chance, base, aspect, model.jitter));
      const beside = seen.find((other) => other.id !== id && bufferedIou(other.bbox, bbox, 0.05) > 0);
      const repeats = beside ? model.repeats.inCompany : model.repeats.alone;
      if (chance.happens(repeats.share)) {
        const repeated = beside && chance.happens(0.5) ? between(beside.bbox, bbox) : partOf(chance, bbox);
        add(repeats.logit + chance.normal(repeats.deviation), repeated);
      }
    }
    for (const { bbox, mood } of lairs)
      add(model.falseLogit + mood(seconds), shaken(chance, bbox, aspect, model.jitter));
    return suppress(boxes);
  };
}

function shaken(chance: Chance, box: Box, aspect: number, jitter: DetectorModel['jitter']): Box {
  const across = box.height / aspect;
  return {
    cx: box.cx + chance.normal(jitter.x * across),
    cy: box.cy + chance.normal(jitter.y * box.height),
    width: box.width * Math.exp(chance.normal(jitter.width)),
    height: box.height * Math.exp(chance.normal(jitter.height)),
  };
}

/** A second box around part of the same thing. */
function partOf(chance: Chance, box: Box): Box {
  const share = chance.between(0.5, 0.75);
  return {
    cx: box.cx + chance.normal(0.1 * box.width),
    cy: box.cy + (chance.happens(0.5) ? -0.5 : 0.5) * (1 - share) * box.height,
    width: box.width * chance.between(0.8, 1.1),
    height: box.height * share,
  };
}

/** A box that takes two things beside each other for one. */
function between(a: Box, b: Box): Box {
  return {
    cx: (a.cx + b.cx) / 2,
    cy: (a.cy + b.cy) / 2,
    width: (a.width + b.width) / 2,
    height: (a.height + b.height) / 2,
  };
}

function boxAt(chance: Chance, aspect: number): Box {
  const height = chance.between(0.08, 0.2);
  return {
    cx: chance.between(0.1, 0.9),
    cy: chance.between(0.2, 0.85),
    width: (height / aspect) * chance.between(0.3, 0.6),
    height,
  };
}

function suppress(boxes: Detected[]): Detected[] {
  const kept: Detected[] = [];
  for (const box of boxes.toSorted((a, b) => b.score - a.score)) {
    if (!kept.some((other) => bufferedIou(other.bbox, box.bbox, 0) > NMS_IOU)) kept.push(box);
  }
  return kept;
}

/** The part of a box that lies in the picture. */
export function cut({ cx, cy, width, height }: Box): Box {
  const [left, right] = [Math.max(0, cx - width / 2), Math.min(1, cx + width / 2)];
  const [top, bottom] = [Math.max(0, cy - height / 2), Math.min(1, cy + height / 2)];
  return {
    cx: (left + right) / 2,
    cy: (top + bottom) / 2,
    width: Math.max(1e-4, right - left),
    height: Math.max(1e-4, bottom - top),
  };
}
