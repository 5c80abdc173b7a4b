import type { TrackedObject } from '@vision/contracts/detection';
import type { RgbImage } from '../domain/rgb-image.ts';
import { cropOf, qualityOf } from '../domain/snapshot-quality.ts';
import type { PixelBox } from '../domain/snapshot-quality.ts';
import { createTokens } from '../domain/tokens.ts';

/** A frame whose objects have tracks. */
interface TrackedFrame {
  seq: number;
  timeMs: number;
  objects: readonly TrackedObject[];
}

/** A frame in the size of a snapshot. */
export interface LargeFrame {
  timeMs: number;
  pixels: RgbImage;
}

/** Description of one image of a track. */
export interface ChosenSnapshot {
  trackId: string;
  /** Number of the image; grows with every image of the track. */
  n: number;
  seq: number;
  timeMs: number;
  score: number;
  bbox: TrackedObject['bbox'];
}

/** Chooses the images of the tracks of one attempt at a job. */
export interface SnapshotChoice {
  /** Adds the next frame; times grow from frame to frame. */
  frame: (frame: TrackedFrame) => void;
  /** Adds a frame in the size of a snapshot, before or after the frame of the same time. */
  large: (frame: LargeFrame) => void;
  /** Ends all tracks: the images that are held back are taken. */
  end: () => void;
}

export interface SnapshotChoiceOptions<Crop> {
  /** Objects with a lower score are not shown. */
  threshold: number;
  /** Large frames that wait for their objects. */
  mostLarge: number;
  /** Crops a part of an image; undefined while too many crops are in progress. */
  cut: (pixels: RgbImage, box: PixelBox) => Crop | undefined;
  /** Receives the image of a track. */
  take: (snapshot: ChosenSnapshot, crop: Crop) => void;
  /** Called for a large frame that belongs to no frame, or that came too late. */
  onUnused: () => void;
}

/** Frames with the object before its first image: a single detection may be wrong. */
const LEAST_HITS = 3;
/** A new image of a track must be better by this factor, and later by the time below. */
const BETTER = 1.2;
const PAUSE_MS = 10_000;
/** A track without an object for this long has ended; the tracker forgets an object sooner. */
const OVER_AFTER_MS = 3_000;
const FRAMES_KNOWN = 8;
/** Maximum number of tracks that hold an image; each image has some ten kilobytes. */
const MOST_HELD = 64;
/** Maximum number of objects of one frame that are considered for images. */
const MOST_OBJECTS = 32;

interface Choice<Crop> {
  hits: number;
  seenAtMs: number;
  n: number;
  taken: { quality: number; atMs: number } | undefined;
  held: { quality: number; snapshot: Omit<ChosenSnapshot, 'n'>; crop: Crop } | undefined;
}

/**
 * Takes the first image of each track after three frames, a better one ten seconds later at the earliest, and when the
 * track ends the best one that was held back. A job takes at most one image a second with bursts of ten, by the times
 * of its frames.
 */
export function createSnapshotChoice<Crop>(options: SnapshotChoiceOptions<Crop>): SnapshotChoice {
  const { threshold, cut, take } = options;
  const tracks = new Map<string, Choice<Crop>>();
  const tokens = createTokens({ perSecond: 1, burst: 10 });

  const send = (choice: Choice<Crop>, snapshot: Omit<ChosenSnapshot, 'n'>, { quality, crop, atMs }: Sent<Crop>) => {
    choice.n += 1;
    choice.taken = { quality, atMs };
    choice.held = undefined;
    take({ ...snapshot, n: choice.n }, crop);
  };
  const release = (choice: Choice<Crop>, atMs: number) => {
    const { held, taken } = choice;
    if (held && (!taken || held.quality >= BETTER * taken.quality) && tokens.take(atMs))
      send(choice, held.snapshot, { ...held, atMs });
  };
  const consider = (frame: TrackedFrame, object: TrackedObject, pixels: RgbImage) => {
    const choice = tracks.get(object.track_id);
    const box = cropOf(object.bbox, pixels);
    if (!choice || !box || choice.hits < LEAST_HITS || object.score < threshold) return;
    const quality = qualityOf(pixels, box, object);
    const best = Math.max(choice.taken?.quality ?? 0, choice.held?.quality ?? 0);
    const { seq, timeMs } = frame;
    const isDue = (!choice.taken || timeMs - choice.taken.atMs >= PAUSE_MS) && tokens.has(timeMs);
    if (quality < BETTER * best) {
      if (isDue) release(choice, timeMs);
      return;
    }
    if (!isDue && !choice.held && heldBy(tracks) >= MOST_HELD) return;
    const crop = cut(pixels, box);
    if (crop === undefined) return;
    const snapshot = { trackId: object.track_id, seq, timeMs, score: object.score, bbox: object.bbox };
    if (isDue && tokens.take(timeMs)) send(choice, snapshot, { quality, crop, atMs: timeMs });
    else choice.held = { quality, snapshot, crop };
  };
  const show = (frame: TrackedFrame, pixels: RgbImage) =>
    frame.objects.slice(0, MOST_OBJECTS).forEach((object) => consider(frame, object, pixels));

  const pairs = createPairs(options, show);
  return {
    frame: (frame) => {
      const { timeMs, objects } = frame;
      for (const { track_id: trackId } of objects) {
        const choice = tracks.get(trackId) ?? { hits: 0, seenAtMs: timeMs, n: 0, taken: undefined, held: undefined };
        tracks.set(trackId, { ...choice, hits: choice.hits + 1, seenAtMs: timeMs });
      }
      for (const [trackId, choice] of tracks) {
        if (timeMs - choice.seenAtMs < OVER_AFTER_MS) continue;
        release(choice, timeMs);
        tracks.delete(trackId);
      }
      pairs.frame(frame);
    },
    large: pairs.large,
    end: () => {
      tracks.forEach((choice) => release(choice, pairs.lastMs()));
      tracks.clear();
      pairs.clear();
    },
  };
}

/** Pairs frames and large frames by their times; the frames come in order, and either may come first. */
function createPairs(
  { mostLarge, onUnused }: Pick<SnapshotChoiceOptions<unknown>, 'mostLarge' | 'onUnused'>,
  onPair: (frame: TrackedFrame, pixels: RgbImage) => void,
) {
  const known: TrackedFrame[] = [];
  let waiting: LargeFrame[] = [];
  const lastMs = () => known.at(-1)?.timeMs ?? 0;
  return {
    lastMs,
    frame: (frame: TrackedFrame) => {
      const { timeMs } = frame;
      if (known.push(frame) > FRAMES_KNOWN) known.shift();
      const large = waiting.find((one) => one.timeMs === timeMs);
      waiting.filter((one) => one.timeMs < timeMs).forEach(onUnused);
      waiting = waiting.filter((one) => one.timeMs > timeMs);
      if (large) onPair(frame, large.pixels);
    },
    large: (one: LargeFrame) => {
      const frame = known.find(({ timeMs }) => timeMs === one.timeMs);
      const isPassed = known.length > 0 && one.timeMs < lastMs();
      if (frame) onPair(frame, one.pixels);
      else if (isPassed || waiting.length >= mostLarge) onUnused();
      else waiting.push(one);
    },
    clear: () => {
      waiting = [];
    },
  };
}

interface Sent<Crop> {
  quality: number;
  crop: Crop;
  atMs: number;
}

const heldBy = (tracks: ReadonlyMap<string, Choice<unknown>>) =>
  [...tracks.values()].filter(({ held }) => held !== undefined).length;
