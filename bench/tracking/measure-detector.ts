import type { Box } from '../../services/inference/src/tracking/box-motion.ts';
import { bufferedIou } from '../../services/inference/src/tracking/box-motion.ts';
import type { Detected } from '../../services/inference/src/tracking/track.ts';
import { loadClip } from './clip.ts';
import { median } from '../figures.ts';
import type { Labelled } from './sequence.ts';
import { withDetector } from './with-detector.ts';

/**
 * How the embedded detector errs on the annotated clip, in the terms of `simulation/detector-model.ts`:
 * `node --conditions=@vision/source bench/tracking/measure-detector.ts`
 */
const RIGHT_IOU = 0.5;
const REPEATED_IOU = 0.15;

const clip = await loadClip();
const found = await withDetector(async (detect) => {
  const all: Detected[][] = [];
  for (const picture of clip.pictures) all.push(await detect(picture));
  return all;
});

const scores = { free: [] as number[], besideOthers: [] as number[] };
const repeated = { free: [] as number[], besideOthers: [] as number[] };
const elsewhere: number[] = [];
const errors = { x: [] as number[], y: [] as number[], width: [] as number[], height: [] as number[] };
let missed = 0;

clip.people.forEach((people, picture) => {
  const open = new Set(people);
  for (const { score, bbox } of (found[picture] ?? []).toSorted((a, b) => b.score - a.score)) {
    const right = nearest([...open], bbox, RIGHT_IOU);
    const touched = right ?? nearest(people, bbox, REPEATED_IOU);
    if (!touched) {
      elsewhere.push(score);
      continue;
    }
    const company = people.some((one) => one !== touched && bufferedIou(one.bbox, touched.bbox, 0.05) > 0);
    (right ? scores : repeated)[company ? 'besideOthers' : 'free'].push(score);
    if (!right) continue;
    open.delete(right);
    if (!company) addErrors(right.bbox, bbox);
  }
  missed += open.size;
});

const boxes = clip.people.flat().length;
console.log(`${boxes} boxes of people, ${missed} missed`);
for (const [where, list] of Object.entries(scores)) console.log(`right, ${where}: ${spread(list)}`);
for (const [where, list] of Object.entries(repeated)) console.log(`second boxes, ${where}: ${spread(list)}`);
console.log(`boxes on nobody: ${spread(elsewhere)}`);
for (const [side, list] of Object.entries(errors)) {
  console.log(`error of ${side}, deviation: ${deviation(list).toFixed(3)}`);
}

function nearest(people: Labelled[], box: Box, least: number): Labelled | undefined {
  const [best] = people
    .map((one) => ({ one, overlap: bufferedIou(one.bbox, box, 0) }))
    .filter(({ overlap }) => overlap >= least)
    .sort((a, b) => b.overlap - a.overlap);
  return best?.one;
}

/** Places in parts of the height, sides as a logarithm. */
function addErrors(truth: Box, box: Box): void {
  errors.x.push(((box.cx - truth.cx) / truth.height) * (clip.width / clip.height));
  errors.y.push((box.cy - truth.cy) / truth.height);
  errors.width.push(Math.log(box.width / truth.width));
  errors.height.push(Math.log(box.height / truth.height));
}

function spread(list: number[]): string {
  if (list.length === 0) return 'none';
  const logits = list.map((score) => Math.log(score / (1 - score)));
  const middle = median(logits).toFixed(2);
  return `${list.length} boxes, median score ${median(list).toFixed(2)}, logit ${middle} ± ${deviation(logits).toFixed(2)}`;
}

function deviation(list: number[]): number {
  const mean = list.reduce((total, value) => total + value, 0) / list.length;
  return Math.sqrt(list.reduce((total, value) => total + (value - mean) ** 2, 0) / list.length);
}
