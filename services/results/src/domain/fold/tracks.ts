/** Position of an object in a frame; edges and sizes as shares of the frame, 0 to 1. */
export interface Box {
  cx: number;
  cy: number;
  width: number;
  height: number;
}

/** One object of a frame, in the form for the fold. The reader reuses the instance for the next object. */
export interface ObjectView extends Box {
  label: string;
  trackId: string;
  /** Score in millionths, a whole number. */
  score: number;
}

/** One object of a track in one frame. */
export interface Sighting extends Box {
  seq: number;
  timeMs: number;
  /** Score in millionths, a whole number. */
  score: number;
}

/**
 * Facts about a track, or about some of its frames. `mergeTracks` combines facts about disjoint sets of frames; the
 * result does not depend on their order.
 */
export interface TrackFacts {
  trackId: string;
  /** Label of the best sighting. */
  label: string;
  /** Objects of the track in all its frames. */
  frames: number;
  /** Sum of scores in millionths. */
  scoreSum: number;
  /** Storing position of the last frame that changed the track or ended it. */
  changed: number;
  first: Sighting;
  last: Sighting;
  best: Sighting;
}

/** Names that can be part of a URL. Objects of other tracks are counted without a track. */
const ADDRESSABLE = /^[\w.-]{1,64}$/;
export const isTrackId = (text: string): boolean => ADDRESSABLE.test(text);

const ATTEMPT = /^a(\d{1,9})-/;

/** The attempt of a track, read from its id; undefined for ids without one. */
export function attemptOf(trackId: string): number | undefined {
  const digits = ATTEMPT.exec(trackId)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Facts about a track of one object. */
export function beginTrack(object: ObjectView, frame: { seq: number; timeMs: number; position: number }): TrackFacts {
  return {
    trackId: object.trackId,
    label: object.label,
    frames: 1,
    scoreSum: object.score,
    changed: frame.position,
    first: sightingOf(object, frame),
    last: sightingOf(object, frame),
    best: sightingOf(object, frame),
  };
}

/** Adds one object to the facts of its track, in place. */
export function addObject(
  track: TrackFacts,
  object: ObjectView,
  frame: { seq: number; timeMs: number; position: number },
): void {
  const { seq, timeMs, position } = frame;
  track.frames += 1;
  track.scoreSum += object.score;
  if (position > track.changed) track.changed = position;
  if (isEarlier(track.last, timeMs, seq)) put(track.last, object, frame);
  else if (isLater(track.first, timeMs, seq)) put(track.first, object, frame);
  if (isBetter(object, frame, track.best)) {
    put(track.best, object, frame);
    track.label = object.label;
  }
}

/** Merged facts about the frames of both. */
export function mergeTracks(a: TrackFacts, b: TrackFacts): TrackFacts {
  const best = isBetter(b.best, b.best, a.best) ? b : a;
  return {
    trackId: a.trackId,
    label: best.label,
    frames: a.frames + b.frames,
    scoreSum: a.scoreSum + b.scoreSum,
    changed: Math.max(a.changed, b.changed),
    first: { ...(isLater(a.first, b.first.timeMs, b.first.seq) ? b.first : a.first) },
    last: { ...(isEarlier(a.last, b.last.timeMs, b.last.seq) ? b.last : a.last) },
    best: { ...best.best },
  };
}

/** A track of one frame is shown only at or above the threshold of its task. */
export const isShown = ({ frames, best }: TrackFacts, threshold: number): boolean =>
  frames > 1 || best.score >= threshold;

const isEarlier = (known: Sighting, timeMs: number, seq: number) =>
  known.timeMs < timeMs || (known.timeMs === timeMs && known.seq < seq);
const isLater = (known: Sighting, timeMs: number, seq: number) =>
  known.timeMs > timeMs || (known.timeMs === timeMs && known.seq > seq);

/** Higher score, then larger area, then earlier. */
function isBetter(
  object: Box & { score: number },
  { timeMs, seq }: { timeMs: number; seq: number },
  known: Sighting,
): boolean {
  if (object.score !== known.score) return object.score > known.score;
  const area = object.width * object.height;
  const knownArea = known.width * known.height;
  if (area !== knownArea) return area > knownArea;
  return isLater(known, timeMs, seq);
}

function sightingOf(object: ObjectView, { seq, timeMs }: { seq: number; timeMs: number }): Sighting {
  const { score, cx, cy, width, height } = object;
  return { seq, timeMs, score, cx, cy, width, height };
}

function put(into: Sighting, object: ObjectView, { seq, timeMs }: { seq: number; timeMs: number }): void {
  into.seq = seq;
  into.timeMs = timeMs;
  into.score = object.score;
  into.cx = object.cx;
  into.cy = object.cy;
  into.width = object.width;
  into.height = object.height;
}
