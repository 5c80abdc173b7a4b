import { expect, test } from '@jest/globals';
import { RAW_SCORES } from '@vision/contracts/calibration';
import type { Calibration } from '@vision/contracts/calibration';
import type { DetectedObject } from '@vision/contracts/detection';
import { leastRawScore, publishScores } from './publish-scores.ts';

const measured = 'made up';
const calibration: Calibration = {
  version: '1',
  floor: 0.35,
  labels: {
    person: {
      curve: [
        [0, 0],
        [0.35, 0.1],
        [0.6, 0.8],
        [1, 1],
      ],
      measured,
    },
    '*': {
      curve: [
        [0, 0],
        [0.35, 0.2],
        [0.9, 0.3],
        [1, 1],
      ],
      measured,
    },
  },
};

const bbox = { format: 'cxcywh_normalized', cx: 0.5, cy: 0.5, width: 0.1, height: 0.1 } as const;
const object = (label: string, score: number): DetectedObject => ({ label, score, bbox });
const shown = (objects: DetectedObject[]) => objects.map(({ label, score }) => `${label} ${score}`);

test('each label has its own curve, and the best published score comes first', () => {
  const raw = [object('truck', 0.9), object('person', 0.6), object('person', 0.5)];
  expect(shown(publishScores(raw, { calibration, minScore: 0 }))).toEqual(['person 0.8', 'person 0.52', 'truck 0.3']);
});

test('everything at or above the floor stays in by the digits that used to be published', () => {
  const raw = [object('person', 0.35), object('person', 0.34996), object('person', 0.34994)];
  expect(shown(publishScores(raw, { calibration, minScore: 0.1 }))).toEqual(['person 0.1', 'person 0.1']);
});

test('a bound holds for published scores', () => {
  const raw = [object('truck', 0.9), object('person', 0.6), object('person', 0.58)];
  expect(shown(publishScores(raw, { calibration, minScore: 0.8 }))).toEqual(['person 0.8']);
});

test('objects whose scores are published as one keep the order of their raw scores', () => {
  const [better, worse] = [object('truck', 0.50004), object('truck', 0.5)];
  const published = publishScores([{ ...better, bbox: { ...bbox, cx: 0.4 } }, worse], { calibration, minScore: 0 });
  expect(published.map((one) => [one.score, one.bbox.cx])).toEqual([
    [published[0]?.score, 0.4],
    [published[0]?.score, 0.5],
  ]);
});

test('without a calibration scores are those of the model', () => {
  const raw = [object('person', 0.91234), object('person', 0.02)];
  expect(shown(publishScores(raw, { calibration: RAW_SCORES, minScore: 0 }))).toEqual(['person 0.9123', 'person 0.02']);
});

test.each([0, 0.1, 0.15, 0.25, 0.5, 0.8, 1])(
  'no box that is published at %d lies below the raw bound for it',
  (minScore) => {
    const labels = ['person', 'truck'];
    const least = leastRawScore({ calibration, minScore }, labels);
    const digits = Array.from({ length: 10_001 }, (_, index) => index / 10_000);
    const published = labels.flatMap((label) =>
      digits.filter((raw) => publishScores([object(label, raw)], { calibration, minScore }).length > 0),
    );
    expect(Math.min(...published)).toBeGreaterThanOrEqual(least);
    expect(Math.min(...published)).toBeLessThan(least + 0.0021);
  },
);
