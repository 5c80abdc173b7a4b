import { readFile } from 'node:fs/promises';
import { fitCurve } from '../../packages/visionctl/src/calibration/fit-curve.ts';

/**
 * The curves of the fire detector, as they stand in config/scenes.json, from the samples that
 * `services/inference/tools/train-fire/calibrate.py` wrote:
 * `node --conditions=@vision/source bench/accuracy/fit-fire.ts OUT/samples.json`
 *
 * Images without the label are chosen evenly, as many as those with it: a score is the probability when every second
 * image shows it.
 */
interface Sample {
  raw: number;
  isRight: boolean;
}

const [file = ''] = process.argv.slice(2);
const samples = JSON.parse(await readFile(file, 'utf8')) as Record<string, Sample[]>;
const labels = Object.entries(samples).map(([label, all]) => [
  label,
  { curve: curveOf(all), measured: textOf(label, all) },
]);
console.log(JSON.stringify(Object.fromEntries(labels), null, 2));

function curveOf(all: readonly Sample[]): [number, number][] {
  const [shown, none] = [all.filter(({ isRight }) => isRight), all.filter(({ isRight }) => !isRight)];
  const asMany = shown.flatMap((_, index) => none[Math.floor((index * none.length) / shown.length)] ?? []);
  const curve = fitCurve([...shown, ...asMany], { minCount: 40, minSlope: 0.05 });
  return curve.map(([raw, probability]) => [Number(raw.toFixed(4)), Number(probability.toFixed(4))]);
}

function textOf(label: string, all: readonly Sample[]): string {
  const shown = all.filter(({ isRight }) => isRight).length;
  return (
    `${shown.toLocaleString('en')} real images with ${label} and as many of ${(all.length - shown).toLocaleString('en')} without ` +
    'fire and smoke, of 17 collections, by heads that saw nothing of the collection; every second image with ' +
    `${label}; P(image shows ${label})`
  );
}
