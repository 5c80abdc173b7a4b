import { associate } from './association.ts';
import { boxOf, bufferedIou, correctMotion, predictMotion, startMotion } from './box-motion.ts';
import type { Detected, Track } from './track.ts';
import { TRACKER_DEFAULTS } from './tracker-settings.ts';
import type { TrackerSettings } from './tracker-settings.ts';

export interface Tracker {
  /**
   * Assigns a `track_id` to every detection of the next frame, in the given order.
   *
   * @param timeMs time of the frame on any monotonic clock; a step back counts as no elapsed time
   * @param aspect width of the frame divided by its height
   */
  update: <T extends Detected>(timeMs: number, detections: readonly T[], aspect: number) => (T & TrackId)[];
}

interface TrackId {
  track_id: string;
}

/**
 * Tracks objects from frame to frame, each class separately. Every detection gets an id, also one that starts an
 * unconfirmed track. Ids are `<prefix>-<n>`, n from 1, never used twice. Lost objects are remembered for a time in
 * milliseconds, independent of the frame rate, and prediction uses the elapsed time.
 *
 * Source: Y. Zhang et al., "ByteTrack: Multi-Object Tracking by Associating Every Detection Box" (ECCV 2022), algorithm
 * 1; docs/adr/0063-object-tracking.md has the differences and reasons.
 *
 * @param prefix differs between the workers that may process one job, so that their ids cannot meet
 */
export function createTracker(prefix: string, settings: TrackerSettings = TRACKER_DEFAULTS): Tracker {
  const tracksByLabel = new Map<string, Track[]>();
  let lastNumber = 0;
  let nowMs = -Infinity;
  let previousMs = -Infinity;

  const nextId = () => {
    lastNumber += 1;
    return `${prefix}-${lastNumber}`;
  };

  return {
    update: (timeMs, detections, aspect) => {
      previousMs = nowMs;
      nowMs = Math.max(nowMs, timeMs);
      for (const [label, tracks] of tracksByLabel) {
        const kept = tracks.filter((track) => isRemembered(track, previousMs, nowMs, settings));
        kept.forEach((track) => advance(track, nowMs, aspect));
        const here = kept.filter((track) => !hasLeft(track));
        if (here.length > 0) tracksByLabel.set(label, here);
        else tracksByLabel.delete(label);
      }
      const ids = new Map<Detected, string>();
      for (const [label, found] of Map.groupBy(detections, (detected) => detected.label)) {
        const tracks = tracksByLabel.get(label) ?? [];
        const matched = associate({ tracks, found, seconds: (nowMs - previousMs) / 1000 }, settings);
        const repetitions = repetitionsAmong(found, matched, settings);
        for (const detected of found) {
          const isRepetition = repetitions.has(detected);
          let track = matched.get(detected);
          if (track) {
            const isSure = detected.score >= settings.sureScore && !isRepetition;
            absorb(track, { detected, isSure, nowMs, aspect });
          } else {
            const isSure = detected.score >= settings.certainScore && !isRepetition;
            tracks.push((track = startTrack(nextId(), { detected, isSure, nowMs, aspect })));
          }
          ids.set(detected, track.id);
        }
        tracksByLabel.set(label, tracks);
      }
      return detections.map((detected) => ({ ...detected, track_id: ids.get(detected) ?? '' }));
    },
  };
}

/** Detections that overlap one of a known track, and have a lower score or a newer track than that one. */
function repetitionsAmong(
  found: readonly Detected[],
  matched: ReadonlyMap<Detected, Track>,
  { repeatOverlap }: TrackerSettings,
): Set<Detected> {
  const known = [...matched].filter(([, track]) => !track.isDoubtful);
  return new Set(
    found.filter((detected) => {
      const hits = matched.get(detected)?.hits ?? 0;
      return known.some(
        ([other, track]) =>
          other !== detected &&
          (other.score > detected.score || track.hits > hits) &&
          bufferedIou(other.bbox, detected.bbox, 0) >= repeatOverlap,
      );
    }),
  );
}

/** A detection that is being assigned to a track. */
interface Arrival {
  detected: Detected;
  /** Whether its score is sure enough for an object of its own, and it duplicates no other. */
  isSure: boolean;
  nowMs: number;
  aspect: number;
}

function startTrack(id: string, { detected, isSure, nowMs, aspect }: Arrival): Track {
  const motion = startMotion(detected.bbox, aspect);
  return { id, motion, movedAtMs: nowMs, seenAtMs: nowMs, missedMs: 0, hits: 1, isDoubtful: !isSure };
}

function absorb(track: Track, { detected, isSure, nowMs, aspect }: Arrival): void {
  track.motion = correctMotion(track.motion, detected.bbox, detected.score, aspect);
  track.seenAtMs = nowMs;
  track.hits += 1;
  if (isSure) track.isDoubtful = false;
}

function advance(track: Track, nowMs: number, aspect: number): void {
  track.missedMs = track.movedAtMs - track.seenAtMs;
  track.motion = predictMotion(track.motion, (nowMs - track.movedAtMs) / 1000, aspect);
  track.movedAtMs = nowMs;
}

/** Whether a lost object has left the image: a new object that enters there must not get its id. */
function hasLeft({ missedMs, motion }: Track): boolean {
  const { cx, cy } = boxOf(motion);
  return missedMs > 0 && (cx < 0 || cx > 1 || cy < 0 || cy > 1);
}

function isRemembered(track: Track, previousMs: number, nowMs: number, settings: TrackerSettings): boolean {
  // At low frame rates one frame interval is longer than the short time; the next frame may still match.
  const isEstablished = (track.hits > 1 && !track.isDoubtful) || track.seenAtMs === previousMs;
  return nowMs - track.seenAtMs <= (isEstablished ? settings.lostMs : settings.doubtfulLostMs);
}
