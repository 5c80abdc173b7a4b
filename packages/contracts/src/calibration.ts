import { z } from 'zod';

const share = z.number().min(0).max(1);

/** Decimals of a score as it is published and stored. */
const SCORE_DECIMALS = 4;

/** A score inside 0..1 with as many digits as are published. */
export const toScore = (score: number): number => {
  const scale = 10 ** SCORE_DECIMALS;
  return Math.round(Math.min(1, Math.max(0, score)) * scale) / scale;
};

/** Points `[raw score, probability]`; between them the curve is straight. */
const curve = z
  .array(z.tuple([share, share]))
  .min(2)
  .max(64)
  .refine(rises, 'has to rise from point to point in both numbers, from [0, 0] to [1, 1]');

/** The entry of labels that have no curve of their own. */
export const ANY_LABEL = '*';

/**
 * What the raw scores of a detector mean: the probability that a box with such a score is right, that is, overlaps an
 * object of its label by an IoU of 0.5 or more. Without one, scores are published as the model gives them.
 */
export const calibration = z.strictObject({
  version: z
    .string()
    .min(1)
    .max(64)
    .describe('Changes with the curves; a job keeps the one that it began with, for the same model'),
  floor: share.describe('Boxes with a lower raw score never leave the detector'),
  labels: z
    .record(
      z.string().min(1),
      z.strictObject({ curve, measured: z.string().min(1).describe('On what the curve was measured') }),
    )
    .describe('By label; "*" is for those that have no curve of their own'),
});

export type Curve = z.infer<typeof curve>;
export type Calibration = z.infer<typeof calibration>;

const IDENTITY: Curve = [
  [0, 0],
  [1, 1],
];

/** Scores as the model gives them. */
export const RAW_SCORES: Calibration = {
  version: 'raw',
  floor: 0,
  labels: { [ANY_LABEL]: { curve: IDENTITY, measured: 'scores as the model gives them' } },
};

/** The probability for a raw score: linear between the points of the curve. */
export const probabilityOf = (points: Curve, raw: number): number =>
  interpolate(
    points.map(([from, to]) => [from, to]),
    raw,
  );

/** The inverse of `probabilityOf`: the raw score that stands behind a published one. */
export const rawScoreOf = (points: Curve, probability: number): number =>
  interpolate(
    points.map(([from, to]) => [to, from]),
    probability,
  );

/** The curve of a label; undefined when the calibration says nothing of it. */
export function findCurve({ labels }: Calibration, label: string): Curve | undefined {
  return (Object.hasOwn(labels, label) ? labels[label] : labels[ANY_LABEL])?.curve;
}

/** The curve of a label; without one its scores stay as they are. */
export const curveOf = (calibration: Calibration, label: string): Curve => findCurve(calibration, label) ?? IDENTITY;

/** The lowest score that is ever published for a label. */
export const lowestScoreOf = (calibration: Calibration, label: string): number =>
  toScore(probabilityOf(curveOf(calibration, label), calibration.floor));

/** The calibration without the curves of other labels, as a job keeps it. */
export function narrowedTo({ version, floor, labels }: Calibration, wanted: readonly string[]): Calibration {
  const kept = Object.entries(labels).filter(([label]) => label === ANY_LABEL || wanted.includes(label));
  return { version, floor, labels: Object.fromEntries(kept) };
}

function interpolate(points: readonly [number, number][], value: number): number {
  const end = points.findIndex(([from], index) => index > 0 && from >= value);
  const [low, high] = [points[end - 1], points[end]];
  if (!low || !high) return value;
  return low[1] + ((value - low[0]) * (high[1] - low[1])) / (high[0] - low[0]);
}

function rises(points: readonly [number, number][]): boolean {
  const [first, last] = [points[0], points.at(-1)];
  if (first?.[0] !== 0 || first[1] !== 0 || last?.[0] !== 1 || last[1] !== 1) return false;
  return points.every(([raw, probability], index) => {
    const before = points[index - 1];
    return before === undefined || (raw > before[0] && probability > before[1]);
  });
}
