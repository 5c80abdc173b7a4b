import { curveOf, probabilityOf, rawScoreOf } from '@vision/contracts/calibration';
import type { Calibration } from '@vision/contracts/calibration';
import type { DetectedObject } from '@vision/contracts/detection';
import { leastShownAs, toScore } from './to-objects.ts';

/** Which objects are asked for, in published scores. */
export interface ScoresWanted {
  calibration: Calibration;
  minScore: number;
}

/** The raw score below which no box of these labels can be published; some above it may not be either. */
export function leastRawScore({ calibration, minScore }: ScoresWanted, labels: readonly string[]): number {
  const behind = labels.map((label) => rawScoreOf(curveOf(calibration, label), leastShownAs(minScore)));
  return leastShownAs(Math.max(calibration.floor, Math.min(...behind)));
}

/**
 * Objects with raw scores, best first, as they are published: the only place where a calibration is applied. Raw scores
 * are rounded first, so that each digit of them has one published score. Where several raw scores are published as one,
 * their objects keep the order of the raw scores.
 */
export function publishScores(
  objects: readonly DetectedObject[],
  { calibration, minScore }: ScoresWanted,
): DetectedObject[] {
  return objects
    .filter(({ score }) => toScore(score) >= calibration.floor)
    .map((object) => {
      const probability = probabilityOf(curveOf(calibration, object.label), toScore(object.score));
      return { ...object, score: toScore(probability) };
    })
    .filter(({ score }) => score >= minScore)
    .sort((a, b) => b.score - a.score);
}
