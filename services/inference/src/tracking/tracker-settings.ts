export interface TrackerSettings {
  /** Minimum score of a sure detection: it is matched over a greater distance, and ends the doubt about a track. */
  sureScore: number;
  /** Minimum score of a detection that begins a track without doubt. Scores are probabilities. */
  certainScore: number;
  /** How long an object is remembered without a detection. */
  lostMs: number;
  /** The same for an object that was detected only once, or that may duplicate another one. */
  doubtfulLostMs: number;
  /** Minimum overlap of a pair, and the additional overlap required of an object that was lost for all of `lostMs`. */
  leastOverlap: number;
  moreOverlapLost: number;
  /** Growth of the boxes with the uncertainty of the prediction: a new or lost object may be farther away. */
  growthOfUncertainty: number;
  /**
   * Growth of the boxes (see `bufferedIou`) in the second matching, of unmatched boxes: for each second between two
   * frames, in which an object may turn, its maximum, and the required overlap.
   */
  wideGrowthPerSecond: number;
  mostWideGrowth: number;
  leastOverlapWide: number;
  /** Weights beside the overlap: the detection's score, a different height, and having been lost for `lostMs`. */
  scoreWeight: number;
  heightWeight: number;
  lostWeight: number;
  /** A detection that overlaps a better one by this much may be its duplicate. */
  repeatOverlap: number;
}

/**
 * For 2 to 25 frames a second. Chosen on simulated streets and pasted people that are separate from the reported
 * figures; `TRACKING_HALF=fit make bench BENCH=tracking` shows the former, docs/accuracy.md the latter.
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
