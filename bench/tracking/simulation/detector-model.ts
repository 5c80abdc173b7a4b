/**
 * How the simulated detector errs. A box's score is the logistic of a sum: what is usual, a mood of the thing that
 * lasts (misses come in rows), a flicker from frame to frame, and what hides it.
 */
export interface DetectorModel {
  logit: number;
  /** Deviation of the mood, and how long it lasts. */
  wander: number;
  memorySeconds: number;
  flicker: number;
  /** What is taken off when all of it is hidden. */
  hiding: number;
  /** Boxes below it are not given. */
  lowest: number;
  /** Deviations: of the centre in parts of the height, of the sides as a share. */
  jitter: { x: number; y: number; width: number; height: number };
  /** How often a thing gets a second box, and how that scores: by itself, and beside others. */
  repeats: { alone: Repeats; inCompany: Repeats };
  /** Places of the background that are taken for a thing now and then. */
  falsePlaces: number;
  falseLogit: number;
  falseWander: number;
}

interface Repeats {
  share: number;
  logit: number;
  deviation: number;
}

/**
 * The embedded detector on the annotated clip, its scores as probabilities (`measure-detector.ts` prints the figures).
 * Whoever walks free scores 0.76 raw, hardly ever less; whoever stands half behind the sign swings around 0.33.
 */
const MEASURED: DetectorModel = {
  logit: 4.5,
  wander: 0.7,
  memorySeconds: 0.7,
  flicker: 0.5,
  hiding: 12,
  lowest: 0.1145,
  jitter: { x: 0.021, y: 0.027, width: 0.15, height: 0.044 },
  repeats: {
    alone: { share: 0.12, logit: -1.7, deviation: 0.9 },
    inCompany: { share: 0.14, logit: 0.55, deviation: 1.5 },
  },
  falsePlaces: 2,
  falseLogit: -2,
  falseWander: 0.5,
};

/** The same on worse pictures, by assumption: scores that are lower and swing more, boxes that shake more. */
const WORSE: DetectorModel = {
  ...MEASURED,
  logit: 2.2,
  wander: 1.3,
  flicker: 0.8,
  hiding: 9,
  jitter: { x: 0.035, y: 0.035, width: 0.18, height: 0.06 },
  falsePlaces: 4,
  falseLogit: -1,
  falseWander: 1,
};

/** Seeds take them in turn. */
export const modelOf = (seed: number): DetectorModel => (seed % 2 === 0 ? WORSE : MEASURED);
