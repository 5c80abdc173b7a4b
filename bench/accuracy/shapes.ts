import { evaluateAll } from '../../packages/visionctl/src/calibration/fit-calibration.ts';
import type { EvaluatedBox } from '../../packages/visionctl/src/calibration/evaluate-boxes.ts';
import { atThreshold } from '../../packages/visionctl/src/calibration/reliability.ts';
import type { AtThreshold } from '../../packages/visionctl/src/calibration/reliability.ts';
import type { Shape } from '@vision/contracts/model-input';
import type { Figure } from '../figures.ts';
import { withDetector } from '../tracking/with-detector.ts';
import { costOfShapes, nameOf } from './cost-of-shapes.ts';
import { middleOf } from './crop.ts';
import { detectIn, labelledClip } from './footage.ts';
import type { LabelledImage } from './footage.ts';
import { labelledMosaics } from './mosaic-pictures.ts';

const SQUARE: Shape = [416, 416];
const SHAPES: Shape[] = [SQUARE, [480, 352], [544, 320], [544, 416], [640, 352], [640, 480], [736, 416], [960, 544]];
const DEFAULT_THRESHOLD = 0.8;
const FRAMES_A_SECOND = 5;
/** Pictures of a clip resemble their neighbours. */
const EVERY = 2;

interface Footage {
  title: string;
  images: LabelledImage[];
}

/**
 * What each shape of the input finds and costs, as a table. `MOSAICS` names a directory that `make-mosaics.ts` filled;
 * without it the clip alone is measured, whole (4:3) and its middle (16:9).
 */
export async function compareShapes(): Promise<Figure[]> {
  const footages = await allFootage();
  const boxes = new Map<string, EvaluatedBox[]>();
  for (const shape of SHAPES) {
    await withDetector(async (detect) => {
      for (const { title, images } of footages) {
        boxes.set(`${title} ${nameOf(shape)}`, evaluateAll(await detectIn(images, detect)));
      }
    }, shape);
  }
  const cost = await costOfShapes(SHAPES, footages[0]?.images[0]?.picture);
  const base = cost.get(nameOf(SQUARE)) ?? Number.NaN;
  const rows = footages.flatMap(({ title, images }) => {
    const objects = images.flatMap(({ truth }) => truth.objects).length;
    return SHAPES.map((shape) => {
      const evaluated = boxes.get(`${title} ${nameOf(shape)}`) ?? [];
      const byDefault = atThreshold(evaluated, objects, DEFAULT_THRESHOLD);
      const best = bestOf(evaluated, objects);
      const time = (cost.get(nameOf(shape)) ?? Number.NaN) / base;
      return [title, nameOf(shape), ...shares(byDefault), ...shares(best), percent(f1(best)), time.toFixed(2)];
    });
  });
  const head = ['footage', 'shape', 'recall at 0.8', 'precision', 'recall at best F1', 'precision', 'F1', 'time'];
  console.log([head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n'));
  return SHAPES.map((shape) => ({
    name: `${nameOf(shape)}: streams of ${FRAMES_A_SECOND}/s for which one core has the time to detect`,
    value: 1000 / (FRAMES_A_SECOND * (cost.get(nameOf(shape)) ?? Number.NaN)),
    unit: 'streams',
  }));
}

async function allFootage(): Promise<Footage[]> {
  const clip = (await labelledClip()).filter((_, index) => index % EVERY === 0);
  const footages = [
    { title: 'street, 4:3', images: clip },
    { title: 'street, 16:9', images: clip.map((image) => middleOf(image, 16 / 9)) },
  ];
  const mosaics = process.env['MOSAICS'];
  if (mosaics === undefined) return footages;
  return [...footages, { title: 'mosaics, 4:3', images: await labelledMosaics(mosaics, EVERY + 1) }];
}

/** At the threshold where the harmonic mean of recall and precision is greatest. */
function bestOf(boxes: EvaluatedBox[], objects: number): AtThreshold {
  const thresholds = Array.from({ length: 40 }, (_, index) => (index + 0.5) / 40);
  return thresholds
    .map((threshold) => atThreshold(boxes, objects, threshold))
    .reduce((best, one) => (f1(one) > f1(best) ? one : best));
}

const f1 = ({ recall, precision }: AtThreshold) => (2 * recall * precision) / Math.max(1e-9, recall + precision);
const percent = (share: number) => (100 * share).toFixed(1);
const shares = ({ recall, precision }: AtThreshold) => [percent(recall), percent(precision)];
