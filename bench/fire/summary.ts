import { curveOf, probabilityOf } from '@vision/contracts/calibration';
import type { Calibration } from '@vision/contracts/calibration';
import type { ClipResult, Label } from './measure.ts';

/** Alarms closer together than this are one. */
const ONE_ALARM_MS = 10_000;
/** Least overlap of a box that is right, and of one that at least shows where it burns. */
const RIGHT = 0.5;
const NEAR = 0.1;

/** A result with the scores as they are published. */
export function publish(result: ClipResult, calibration: Calibration): ClipResult {
  const judged = result.judged
    .filter(({ score }) => score >= calibration.floor)
    .map((box) => ({ ...box, score: probabilityOf(curveOf(calibration, box.label), box.score) }));
  return { ...result, judged };
}

export interface Summary {
  precision: number;
  recall: number;
  /** In clips in which nothing burns. */
  falseAlarmsPerHour: number;
}

/** Boxes of a label at or above a score against what is there, over all clips. */
export function summarize(results: readonly ClipResult[], label: Label, least: number): Summary {
  const boxes = results.flatMap(({ judged }) => judged.filter((box) => box.label === label && box.score >= least));
  const right = boxes.filter(({ overlap }) => overlap >= RIGHT).length;
  const shown = results.flatMap((result) => result.shown.filter((one) => one.label === label)).length;
  const calm = results.filter(({ clip }) => clip.burns === undefined);
  const seconds = calm.reduce((sum, { clip }) => sum + clip.seconds, 0);
  const alarms = calm.reduce((sum, result) => sum + falseAlarms(result, label, least), 0);
  return {
    precision: boxes.length === 0 ? Number.NaN : right / boxes.length,
    recall: right / shown,
    falseAlarmsPerHour: (alarms * 3600) / seconds,
  };
}

/** Seconds from the first frame that shows it to the first alarm near it; undefined without one. */
export function alarmsIn({ judged, shown }: ClipResult, label: Label, least: number): number | undefined {
  const first = shown.find((one) => one.label === label);
  const alarm = judged.find((box) => box.label === label && box.score >= least && box.overlap >= NEAR);
  return first && alarm ? (alarm.timeMs - first.timeMs) / 1000 : undefined;
}

/** Raw scores of one label and whether their boxes are right, to fit a curve to. */
export const samplesOf = (results: readonly ClipResult[], label: Label, floor: number) =>
  results
    .flatMap(({ judged }) => judged.filter((box) => box.label === label && box.score >= floor))
    .map(({ score, overlap }) => ({ raw: score, isRight: overlap >= RIGHT }));

function falseAlarms({ judged }: ClipResult, label: Label, least: number): number {
  let alarms = 0;
  let lastMs = -Infinity;
  for (const { label: found, score, timeMs } of judged) {
    if (found !== label || score < least) continue;
    if (timeMs - lastMs > ONE_ALARM_MS) alarms += 1;
    lastMs = timeMs;
  }
  return alarms;
}
