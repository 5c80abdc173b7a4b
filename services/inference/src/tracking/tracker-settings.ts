export interface TrackerSettings {
  /** From here on a detection counts as sure: it is looked for farther away, and ends the doubt about a track. */
  sureScore: number;
  /** Minimum score of a detection that begins a track without doubt. Scores are probabilities. */
  certainScore: number;
  /** How long an object is remembered without a detection. */
  lostMs: number;
  /** The same for one that was seen only once, or that may be the repetition of another. */
  doubtfulLostMs: number;
  /** Least overlap of a pair, and how much more of it somebody needs who was lost for all of `lostMs`. */
  leastOverlap: number;
  moreOverlapLost: number;
  /** Growth of the boxes with the uncertainty of the prediction: who is new or was lost may be farther away. */
  growthOfUncertainty: number;
  /**
   * Growth of the boxes (see `bufferedIou`) when what is left over is matched once more: for each second between two
   * frames, in which an object may turn, and at most. And the overlap needed.
   */
  wideGrowthPerSecond: number;
  mostWideGrowth: number;
  leastOverlapWide: number;
  /** What counts beside overlap: the detection's score, other height, and having been lost for `lostMs`. */
  scoreWeight: number;
  heightWeight: number;
  lostWeight: number;
  /** A detection that overlaps a better one by this much may be its repetition. */
  repeatOverlap: number;
}

/**
 * For 2 to 25 frames a second. Chosen on simulated streets and pasted people that the reported figures do not come
 * from; `TRACKING_HALF=fit make bench BENCH=tracking` shows them, docs/accuracy.md the others.
 */
export const TRACKER_DEFAULTS: TrackerSettings = {
  sureScore: 0.5,
  certainScore: 0.8,
  lostMs: 2000,
  doubtfulLostMs: 400,
  leastOverlap: 0.25,
  moreOverlapLost: 0.2,
  growthOfUncertainty: 0.6,
  wideGrowthPerSecond: 1.5,
  mostWideGrowth: 0.8,
  leastOverlapWide: 0.35,
  scoreWeight: 0.3,
  heightWeight: 1.7,
  lostWeight: 0.7,
  repeatOverlap: 0.3,
};
