import { assign } from './assignment.ts';
import { boxOf, bufferedIou, correctMotion, predictMotion, startMotion } from './box-motion.ts';
import type { Box, BoxMotion } from './box-motion.ts';

/** What a detector found in one frame. */
export interface Detected {
  label: string;
  score: number;
  bbox: Box;
}

export interface TrackerSettings {
  /** Detections at or above it are matched first and count as sure. */
  highScore: number;
  /** How long a confirmed track is remembered without a detection. */
  lostMs: number;
  /** The same for a track that was seen only once. */
  tentativeLostMs: number;
  /** Growth of the boxes in the first and in the last round, see `bufferedIou`. */
  buffers: readonly [number, number];
  /** Least buffered overlap of a pair, for sure and for unsure detections. */
  leastIou: number;
  leastIouUnsure: number;
  /**
   * How much overlap a track needs in addition when it was lost for as long as `lostMs`: tracks seen most
   * recently are preferred.
   */
  lostHandicap: number;
  /** How much overlap a track needs in addition while it is new, and the number of detections after which it is not. */
  newHandicap: number;
  maturityHits: number;
}

/** For 5 frames a second: boxes of walking people overlap less than at 30, hence low overlaps and grown boxes. */
const TRACKER_DEFAULTS: TrackerSettings = {
  highScore: 0.5,
  lostMs: 2000,
  tentativeLostMs: 650,
  buffers: [0.2, 0.5],
  leastIou: 0.15,
  leastIouUnsure: 0.3,
  lostHandicap: 0.2,
  newHandicap: 0.2,
  maturityHits: 10,
};

export interface Tracker {
  /**
   * Gives every detection of the next frame its `track_id`, in the order given.
   *
   * @param timeMs time of the frame on any clock that does not run backwards; a step back counts as no time passed
   */
  update: <T extends Detected>(timeMs: number, detections: readonly T[]) => (T & { track_id: string })[];
}

/**
 * Follows objects from frame to frame, each class by itself: sure detections are matched with the predicted boxes of
 * all tracks first, unsure ones with the tracks left over, sure ones once more with a wider reach. Every detection gets
 * an id, also one that starts a track nobody has confirmed yet. Ids are `<prefix>-<n>`, n from 1, never used twice.
 * Memory is counted in milliseconds, so it does not depend on the frame rate, and prediction uses the elapsed time.
 *
 * Sources: Y. Zhang et al., "ByteTrack: Multi-Object Tracking by Associating Every Detection Box" (ECCV 2022),
 * algorithm 1; the last round after the cascaded matching of C-BIoU (see `bufferedIou`).
 *
 * @param prefix differs between the workers that may process one job, so that their ids cannot meet
 */
export function createTracker(prefix: string, settings: TrackerSettings = TRACKER_DEFAULTS): Tracker {
  const tracksByLabel = new Map<string, Track[]>();
  let lastNumber = 0;
  let nowMs = -Infinity;
  let previousMs = -Infinity;

  const startTrack = (detected: Detected): Track => {
    lastNumber += 1;
    return {
      id: `${prefix}-${lastNumber}`,
      motion: startMotion(detected.bbox),
      movedAtMs: nowMs,
      seenAtMs: nowMs,
      hits: 1,
    };
  };

  return {
    update: (timeMs, detections) => {
      previousMs = nowMs;
      nowMs = Math.max(nowMs, timeMs);
      for (const [label, tracks] of tracksByLabel) {
        const kept = tracks.filter((track) => isRemembered(track, previousMs, nowMs, settings));
        kept.forEach((track) => advance(track, nowMs));
        if (kept.length > 0) tracksByLabel.set(label, kept);
        else tracksByLabel.delete(label);
      }
      const ids = new Map<Detected, string>();
      for (const label of new Set(detections.map((detected) => detected.label))) {
        const found = detections.filter((detected) => detected.label === label);
        const tracks = tracksByLabel.get(label) ?? [];
        const matched = matchClass(tracks, found, settings);
        for (const detected of found) {
          let track = matched.get(detected);
          if (track === undefined) tracks.push((track = startTrack(detected)));
          else absorb(track, detected, nowMs, settings);
          ids.set(detected, track.id);
        }
        tracksByLabel.set(label, tracks);
      }
      return detections.map((detected) => ({ ...detected, track_id: ids.get(detected) ?? '' }));
    },
  };
}

function matchClass(tracks: Track[], found: Detected[], settings: TrackerSettings): Map<Detected, Track> {
  const matched = new Map<Detected, Track>();
  const sure = found.filter((detected) => detected.score >= settings.highScore);
  const unsure = found.filter((detected) => detected.score < settings.highScore);
  const round = (candidates: Track[], open: Detected[], buffer: number, least: number) => {
    const boxes = candidates.map((track) => boxOf(track.motion));
    const overlapOf = (row: number, column: number) => {
      const track = candidates[row];
      const detected = open[column];
      const box = boxes[row];
      if (!track || !detected || !box) return 0;
      const overlap = bufferedIou(box, detected.bbox, buffer);
      return overlap < least ? 0 : preferred(track, overlap, settings);
    };
    const { pairs, freeRows, freeColumns } = assign(candidates.length, open.length, overlapOf, 0);
    for (const [row, column] of pairs) {
      const track = candidates[row];
      const detected = open[column];
      if (track && detected) matched.set(detected, track);
    }
    return { tracks: pick(candidates, freeRows), open: pick(open, freeColumns) };
  };
  const first = round(tracks, sure, settings.buffers[0], settings.leastIou);
  const second = round(first.tracks, unsure, settings.buffers[0], settings.leastIouUnsure);
  round(second.tracks, first.open, settings.buffers[1], settings.leastIou);
  return matched;
}

/**
 * Overlap lowered for tracks that are new or lost, but never to zero: they still get detections that no
 * other track takes.
 */
function preferred(track: Track, overlap: number, settings: TrackerSettings): number {
  const lost = (track.movedAtMs - track.seenAtMs) / settings.lostMs;
  const newness = Math.max(0, 1 - track.hits / settings.maturityHits);
  return Math.max(0.001, overlap - settings.lostHandicap * lost - settings.newHandicap * newness);
}

function advance(track: Track, nowMs: number): void {
  track.motion = predictMotion(track.motion, (nowMs - track.movedAtMs) / 1000);
  track.movedAtMs = nowMs;
}

function absorb(track: Track, detected: Detected, nowMs: number, settings: TrackerSettings): void {
  track.motion = correctMotion(track.motion, detected.bbox, detected.score >= settings.highScore);
  track.seenAtMs = nowMs;
  track.hits += 1;
}

function isRemembered(track: Track, previousMs: number, nowMs: number, settings: TrackerSettings): boolean {
  // At low frame rates one missed interval is longer than the tentative memory; the next frame still gets its chance.
  const isEstablished = track.hits > 1 || track.seenAtMs === previousMs;
  return nowMs - track.seenAtMs <= (isEstablished ? settings.lostMs : settings.tentativeLostMs);
}

function pick<T>(items: readonly T[], indexes: number[]): T[] {
  return indexes.flatMap((index) => items[index] ?? []);
}

interface Track {
  id: string;
  motion: BoxMotion;
  /** Time the motion was predicted to, and time of the last detection. */
  movedAtMs: number;
  seenAtMs: number;
  hits: number;
}
