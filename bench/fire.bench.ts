import { join } from 'node:path';
import { fitCurve } from '../packages/visionctl/src/calibration/fit-curve.ts';
import { RAW_SCORES } from '@vision/contracts/calibration';
import type { Calibration } from '@vision/contracts/calibration';
import { loadScenes } from '@vision/shared/scenes';
import { publishScores } from '../services/inference/src/domain/publish-scores.ts';
import { median } from './figures.ts';
import type { Figure } from './figures.ts';
import { streetFrames } from './fire/backgrounds.ts';
import { clipsOf, halves, streetLoop } from './fire/clips.ts';
import { measureClip } from './fire/measure.ts';
import type { ClipResult, Label, MethodName } from './fire/measure.ts';
import { realFire } from './fire/real-fire.ts';
import { alarmsIn, publish, samplesOf, summarize } from './fire/summary.ts';

export const name = 'fire';

/** Clips of each kind of thing without fire; six times as many burn. More take longer and say more. */
const EACH = Number(process.env['FIRE_CLIPS'] ?? 1);
/** `fit` prints the curves for config/scenes.json; figures are reported for the other half, or for `check`. */
const HALF = halves.find((half) => half === process.env['FIRE_HALF']) ?? 'report';
const STREET_SECONDS = 24;
const labels: readonly Label[] = ['fire', 'smoke'];
const methodNames: readonly MethodName[] = ['picture', 'video'];

/** The scene fire_smoke on simulated clips: judged picture by picture, and as a video. */
export async function run(): Promise<{ figures: Figure[] }> {
  const street = await streetFrames();
  const clips = [...clipsOf(HALF, street, EACH), ...(HALF === 'fit' ? [] : [streetLoop(street, STREET_SECONDS)])];
  const raw: Record<MethodName, ClipResult[]> = { picture: [], video: [] };
  for (const clip of clips) {
    const measured = await measureClip(clip);
    for (const method of methodNames) raw[method].push(measured[method]);
  }
  if (HALF === 'fit') printCurves(raw);
  const calibrations = registered();
  const real = await Promise.all(
    methodNames.map((method) =>
      realFire(method, (objects) => publishScores(objects, { calibration: calibrations[method], minScore: 0 })),
    ),
  );
  const simulated = methodNames.flatMap((method) => {
    const results = raw[method].map((result) => publish(result, calibrations[method]));
    return labels.flatMap((label) => figuresOf(results, method, label));
  });
  return { figures: [...simulated, ...real.flat()] };
}

function figuresOf(results: ClipResult[], method: MethodName, label: Label): Figure[] {
  const about = `${label}, ${method === 'picture' ? 'picture by picture' : 'as video'}`;
  const thresholds = [0.3, 0.5, 0.8].flatMap((least) => {
    const { precision, recall, falseAlarmsPerHour } = summarize(results, label, least);
    return [
      { name: `${about}, precision at ${least}`, value: precision, unit: 'share' },
      { name: `${about}, recall at ${least}`, value: recall, unit: 'share' },
      { name: `${about}, false alarms at ${least}`, value: falseAlarmsPerHour, unit: 'per hour' },
    ];
  });
  const burning = results.filter(({ clip }) => clip.burns === label);
  const waits = burning.map((result) => alarmsIn(result, label, 0.5)).filter((wait) => wait !== undefined);
  return [
    ...thresholds,
    { name: `${about}, clips with an alarm at 0.5`, value: waits.length / burning.length, unit: 'share' },
    { name: `${about}, first alarm at 0.5 after, median`, value: median(waits), unit: 's' },
  ];
}

/** The calibrations that ship. */
function registered(): Record<MethodName, Calibration> {
  const { detectors } = loadScenes(join(import.meta.dirname, '../config/scenes.json'));
  const spec = detectors['chromatic'];
  if (spec?.kind !== 'chromatic') throw new Error('the registry has no chromatic detector');
  return { picture: spec.calibration ?? RAW_SCORES, video: spec.video_calibration ?? RAW_SCORES };
}

function printCurves(raw: Record<MethodName, ClipResult[]>): void {
  for (const method of methodNames) {
    for (const label of labels) {
      const samples = samplesOf(raw[method], label, method === 'picture' ? 0.4 : 0.3);
      process.stdout.write(`  ${method} ${label} (${samples.length}): ${JSON.stringify(fitCurve(samples))}\n`);
    }
  }
}
