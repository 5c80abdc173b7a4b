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

/** What an image of a track shows. */
export interface ChosenSnapshot {
  trackId: string;
  /** Grows with every image of the track. */
  n: number;
  seq: number;
  timeMs: number;
  score: number;
  bbox: TrackedObject['bbox'];
}

/** Chooses the images of the tracks of one attempt at a job. */
export interface SnapshotChoice {
  /** The next frame; times grow from frame to frame. */
  frame: (frame: TrackedFrame) => void;
  /** A frame in the size of a snapshot, before or after the frame of the same time. */
  large: (frame: LargeFrame) => void;
  /** The tracks have ended: images that are held go out. */
  end: () => void;
}

export interface SnapshotChoiceOptions<Crop> {
  /** Objects with a lower score are not shown. */
  threshold: number;
  /** Large frames that wait for their objects. */
  mostLarge: number;
  /** Cuts a part out of an image; undefined while too many are under way. */
  cut: (pixels: RgbImage, box: PixelBox) => Crop | undefined;
  /** Takes the image of a track. */
  take: (snapshot: ChosenSnapshot, crop: Crop) => void;
  /** A large frame that belongs to no frame, or came too late. */
  onUnused: () => void;
}

/** An object is shown once it is surely there. */
const LEAST_HITS = 3;
/** A new image of a track has to be better by this factor, and so much later. */
const BETTER = 1.2;
const PAUSE_MS = 10_000;
/** A track without an object for so long has ended; a tracker remembers for less. */
const OVER_AFTER_MS = 3_000;
const FRAMES_KNOWN = 8;
/** Tracks that hold an image at once; each is some ten kilobytes. */
const MOST_HELD = 64;
/** Objects of one frame whose images are looked at. */
const MOST_OBJECTS = 32;

interface Choice<Crop> {
  hits: number;
  seenAtMs: number;
  n: number;
  taken: { quality: number; atMs: number } | undefined;
  held: { quality: number; snapshot: Omit<ChosenSnapshot, 'n'>; crop: Crop } | undefined;
}

/**
 * Of each track the first image is taken after three frames, a better one ten seconds later at the earliest, and the
 * best one that was held back at the end. A job takes one a second and ten at once at most, by the time of its frames.
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
