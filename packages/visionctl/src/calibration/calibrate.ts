import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { crossCalibrated, fitCalibration, evaluateAll } from './fit-calibration.ts';
import type { CalibrationWanted, DetectedImage } from './fit-calibration.ts';
import { FIT_DEFAULTS } from './fit-curve.ts';
import type { EvaluatedBox } from './evaluate-boxes.ts';
import { parseGroundTruth } from './ground-truth.ts';
import type { GroundTruth } from './ground-truth.ts';
import { atThreshold, calibrationErrorOf, reliabilityOf } from './reliability.ts';
import { ANY_LABEL, lowestScoreOf } from '@vision/contracts/calibration';
import type { Calibration } from '@vision/contracts/calibration';
import type { SceneEntry } from '@vision/contracts/scenes';
import { loadScenes } from '@vision/shared/scenes';
import { wholeNumber } from '../command.ts';
import type { CommandContext, Output } from '../command.ts';
import { table } from '../table.ts';
import { UsageError } from '../usage-error.ts';
import { detectIn, requireSameScores } from './ask-detector.ts';
import type { Backend } from './ask-detector.ts';
import { reliabilityDiagram } from './diagram.ts';

/** Detects in every labelled image, fits, writes the files, and says how good the fit is. */
export async function calibrate({ options, settings, progress }: CommandContext, url: string): Promise<Output> {
  const registry = options['registry'] ?? settings.values['SCENES_FILE'] ?? 'config/scenes.json';
  const scenes = loadScenes(registry);
  const scene = scenes.findEnabled(options['scene'] ?? '');
  const spec = scenes.detectors[scene?.detector ?? ''];
  if (!scene || !spec) throw new UsageError(`${registry} opens no scene ${options['scene'] ?? ''}.`);
  const token = settings.values['INFERENCE_TOKEN']?.split(',')[0];
  const backend = { url, token, scene: scene.scene_code, calibration: spec.calibration };
  const truths = await readLabels(options['labels'] ?? '');
  const wanted = wantedOf(options, scene, spec.calibration);
  await requireSameScores(backend);
  const images = await detectInAll(backend, options['pictures'] ?? '', truths, progress);
  const fitted = orExplain(() => fitCalibration(images, wanted));
  const evaluated = { raw: evaluateAll(images), crossed: orExplain(() => crossCalibrated(images, wanted)) };
  const calibration = { ...fitted, labels: { ...spec.calibration?.labels, ...fitted.labels } };
  const out = options['out'] ?? 'calibration';
  const names = Object.keys(fitted.labels).filter((label) => label !== ANY_LABEL);
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'calibration.json'), `${JSON.stringify(calibration, null, 2)}\n`);
  for (const label of names) await writeDiagram(out, label, evaluated);
  const bounds = scenes.entries.filter(({ detector }) => detector === scene.detector).map(boundOf(calibration));
  const counts = countsOf(truths, names);
  const rows = rowsOf(evaluated.crossed, counts);
  return {
    value: { calibration, lower_bounds: bounds, cross_validation: rows, files: out },
    text: [
      `Measured: ${names.join(', ') || 'no label by itself'}; all others have the curve "*".`,
      'By curves that were fitted without the picture in question:',
      table(['label', 'score', 'recall', 'precision', 'shown', 'error'], rows),
      '',
      `${out}/calibration.json goes into ${registry}, under detectors → ${scene.detector ?? ''} → calibration, with these bounds:`,
      table(['scene', 'lower_bound'], bounds),
    ].join('\n'),
  };
}

async function readLabels(path: string): Promise<GroundTruth[]> {
  try {
    return parseGroundTruth(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${path} is no file of labels in the COCO format: ${why}`);
  }
}

function wantedOf(
  options: CommandContext['options'],
  scene: SceneEntry,
  inForce: Calibration | undefined,
): CalibrationWanted {
  // Without a calibration the lower bound of the scene is itself a raw score.
  const floor = options['floor'] === undefined ? (inForce?.floor ?? scene.lower_bound) : Number(options['floor']);
  if (!(floor >= 0 && floor < 1)) throw new UsageError('--floor is a raw score from 0 to below 1.');
  return {
    version: options['name'] ?? new Date().toISOString().slice(0, 10),
    floor,
    labels: scene.labels,
    measured: options['measured'] ?? basename(options['labels'] ?? ''),
    fit: { ...FIT_DEFAULTS, minCount: wholeNumber(options, 'min-count', 5) ?? FIT_DEFAULTS.minCount },
  };
}

async function detectInAll(
  backend: Backend,
  directory: string,
  truths: GroundTruth[],
  progress: (text: string) => void,
): Promise<DetectedImage[]> {
  const images: DetectedImage[] = [];
  for (const truth of truths) {
    images.push(await detectIn(backend, directory, truth));
    if (images.length % 50 === 0) progress(`${images.length} of ${truths.length} pictures`);
  }
  return images;
}

function orExplain<T>(fit: () => T): T {
  try {
    return fit();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`${error.message}: label more pictures, or ask for fewer with --min-count.`);
  }
}

interface Evaluated {
  raw: EvaluatedBox[];
  crossed: EvaluatedBox[];
}

async function writeDiagram(out: string, label: string, { raw, crossed }: Evaluated): Promise<void> {
  const binsOf = (boxes: EvaluatedBox[]) => reliabilityOf(boxes.filter((box) => box.label === label));
  const svg = reliabilityDiagram(label, [
    { name: 'raw scores', colour: '#b4531a', bins: binsOf(raw) },
    { name: 'calibrated, by curves fitted on the other half', colour: '#1a62b4', bins: binsOf(crossed) },
  ]);
  const path = join(out, `reliability-${label.replaceAll(/\W/g, '_')}`);
  await writeFile(`${path}.svg`, svg);
  // Loaded here, because every other command starts sooner without it.
  const { default: sharp } = await import('sharp');
  await sharp(Buffer.from(svg), { density: 144 }).png().toFile(`${path}.png`);
}

const boundOf =
  (calibration: Calibration) =>
  ({ scene_code: scene, labels }: SceneEntry) => ({
    scene,
    lower_bound: Math.min(...labels.map((label) => lowestScoreOf(calibration, label))),
  });

const countsOf = (truths: GroundTruth[], labels: string[]) =>
  labels.map((label) => ({
    label,
    objects: truths.flatMap(({ objects }) => objects).filter((object) => object.label === label).length,
  }));

const THRESHOLDS = [0.35, 0.5, 0.65, 0.8, 0.9];

function rowsOf(boxes: EvaluatedBox[], counts: { label: string; objects: number }[]) {
  return counts.flatMap(({ label, objects }) => {
    const own = boxes.filter((box) => box.label === label);
    const error = percent(calibrationErrorOf(reliabilityOf(own)));
    return THRESHOLDS.map((score) => {
      const { recall, precision, shown } = atThreshold(own, objects, score);
      return { label, score, recall: percent(recall), precision: percent(precision), shown, error };
    });
  });
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
