import { assign } from './assignment.ts';
import { boxOf, bufferedIou, uncertainty } from './box-motion.ts';
import type { Box } from './box-motion.ts';
import type { Detected, Track } from './track.ts';
import type { TrackerSettings } from './tracker-settings.ts';

/** One way to pair what is left over: whose tracks, which detections, how far to look, and how near they have to be. */
interface Round {
  tracks: readonly Track[];
  found: readonly Detected[];
  growth: number;
  least: number;
}

/** What is to be paired in a frame. */
interface Moment {
  tracks: readonly Track[];
  found: readonly Detected[];
  /** Since the frame before. */
  seconds: number;
}

/**
 * Which detection continues which track. Tracks are predicted to the time of the frame, and all of one label.
 *
 * Sure and unsure detections are weighed together, then what is left of the sure ones once more with boxes grown.
 * Doubtful tracks are matched last, in the same way, so that they never take the place of an object that is
 * known.
 */
export function associate({ tracks, found, seconds }: Moment, settings: TrackerSettings): Map<Detected, Track> {
  const matched = new Map<Detected, Track>();
  const taken = new Set<Track>();
  const sure = found.filter(({ score }) => score >= settings.sureScore);
  const { leastOverlap, leastOverlapWide, wideGrowthPerSecond, mostWideGrowth } = settings;
  const wideGrowth = Math.min(mostWideGrowth, wideGrowthPerSecond * seconds);
  for (const isDoubtful of [false, true]) {
    const all = tracks.filter((track) => track.isDoubtful === isDoubtful);
    const rounds: Round[] = [
      { tracks: all, found, growth: 0, least: leastOverlap },
      { tracks: all, found: sure, growth: wideGrowth, least: leastOverlapWide },
    ];
    for (const round of rounds) pair(round, { matched, taken, settings });
  }
  return matched;
}

interface Pairing {
  matched: Map<Detected, Track>;
  taken: Set<Track>;
  settings: TrackerSettings;
}

function pair(round: Round, { matched, taken, settings }: Pairing): void {
  const tracks = round.tracks.filter((track) => !taken.has(track));
  const found = round.found.filter((detected) => !matched.has(detected));
  const boxes = tracks.map(({ motion }) => boxOf(motion));
  const growths = tracks.map(({ motion }) =>
    Math.min(MOST_GROWTH, round.growth + settings.growthOfUncertainty * uncertainty(motion)),
  );
  const gain = (row: number, column: number) => {
    const track = tracks[row];
    const box = boxes[row];
    const detected = found[column];
    if (!track || !box || !detected) return 0;
    const shared = bufferedIou(box, detected.bbox, growths[row] ?? 0);
    if (shared === 0) return 0;
    const least = round.least + (settings.moreOverlapLost * track.missedMs) / settings.lostMs;
    return shared < least ? 0 : preferred({ track, box, detected, shared }, settings);
  };
  assign(tracks.length, found.length, gain).forEach((column, row) => {
    const [track, detected] = [tracks[row], found[column]];
    if (!track || !detected) return;
    matched.set(detected, track);
    taken.add(track);
  });
}

interface Candidate {
  track: Track;
  box: Box;
  detected: Detected;
  shared: number;
}

/**
 * Among several detections the surer one of the same height continues a track, and among several tracks the one seen
 * last is continued; but what no other wants is taken all the same.
 */
function preferred({ track, box, detected, shared }: Candidate, settings: TrackerSettings): number {
  const { scoreWeight, heightWeight, lostWeight, lostMs } = settings;
  const lost = track.missedMs / lostMs;
  const otherHeight = Math.abs(Math.log(box.height / detected.bbox.height));
  return Math.max(LEAST_GAIN, shared + scoreWeight * detected.score - heightWeight * otherHeight - lostWeight * lost);
}

const LEAST_GAIN = 0.001;
const MOST_GROWTH = 1.5;
