import { storedLabels, storedScores } from '../stored-objects.ts';
import { decodeBody } from '@vision/contracts/segments/decode-body';
import { ColumnBody } from './column-body.ts';
import type { SegmentBody } from './column-body.ts';
import { encodeBody } from '@vision/contracts/segments/encode-body';
import type { FrameObjects } from '@vision/contracts/segments/encode-body';
import { encodeHeads } from '@vision/contracts/segments/head';
import type { FrameHead } from '@vision/contracts/segments/head';
import type { Effort } from '@vision/contracts/segments/pack';

/** A frame before its encoding into a segment, or after decoding. */
export interface SegmentFrame extends Omit<FrameHead, 'objects'> {
  objects: FrameObjects;
}

/** Frames of one attempt in a segment: their count, smallest and largest number. */
type AttemptFrames = [count: number, firstSeq: number, lastSeq: number];

/** Facts of a segment that are known without decoding it. */
export interface SegmentFacts {
  firstSeq: number;
  lastSeq: number;
  firstPosition: number;
  lastPosition: number;
  firstTimeMs: number;
  lastTimeMs: number;
  frames: number;
  attempts: Record<string, AttemptFrames>;
  /** Undefined when there are too many different labels to list. */
  labels: string[] | undefined;
  /** Undefined when no frame has an object. */
  bestScore: number | undefined;
}

export interface EncodedSegment {
  facts: SegmentFacts;
  /** The frames without their objects. */
  heads: Buffer;
  /** The objects. */
  body: Buffer;
}

/**
 * Exclusive maximum span of the frame numbers of a segment. A reader that continues after a number so finds every
 * segment that reaches beyond it near that number.
 */
export const MAX_SPAN = 2_048;
const MAX_FRAMES = 600;
/** Approximate size before compression: a segment of usual frames is far below. */
const MAX_WEIGHT = 4 * 1024 * 1024;
const MAX_LABELS = 32;

/** Splits frames in the order of their numbers into runs that fit into one segment each. */
export function splitIntoSegments(frames: readonly SegmentFrame[]): SegmentFrame[][] {
  const runs: SegmentFrame[][] = [];
  let run: SegmentFrame[] = [];
  let weight = 0;
  for (const frame of frames) {
    const own = weightOf(frame.objects);
    const isFull = run.length === MAX_FRAMES || weight + own > MAX_WEIGHT;
    const [first] = run;
    if (first && (isFull || frame.seq - first.seq >= MAX_SPAN)) {
      runs.push(run);
      run = [];
      weight = 0;
    }
    run.push(frame);
    weight += own;
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

function weightOf(objects: FrameObjects): number {
  if (typeof objects === 'string') return objects.length;
  let weight = 0;
  for (const { label, track_id: track } of objects) weight += 32 + label.length + track.length;
  return weight;
}

/** Encodes a run of frames and its index facts; `frames` has at least one frame, in the order of numbers. */
export function encodeSegment(frames: readonly SegmentFrame[], effort: Effort): EncodedSegment {
  const heads = frames.map(headOf);
  const { bytes: body, ...words } = encodeBody(
    frames.map(({ objects }) => objects),
    effort,
  );
  const labels = new Set([...words.labels, ...words.texts.flatMap(storedLabels)]);
  const facts: SegmentFacts = {
    ...factsOf(heads),
    labels: labels.size > MAX_LABELS ? undefined : [...labels].sort(),
    bestScore: bestScoreOf(frames),
  };
  return { facts, heads: encodeHeads(heads, effort), body };
}

/** Decodes the body of a segment whose heads are known. @throws SegmentDamagedError */
export const openBody = (body: Buffer, heads: readonly FrameHead[]): SegmentBody =>
  new ColumnBody(
    decodeBody(
      body,
      heads.map(({ objects }) => objects),
    ),
  );

function headOf({ seq, position, attempt, frameTimeMs, width, height, objects }: SegmentFrame): FrameHead {
  const count = typeof objects === 'string' ? storedScores(objects).length : objects.length;
  return { seq, position, attempt, frameTimeMs, width, height, objects: count };
}

/** Facts that follow from the heads; they change when a newer attempt takes over frames. */
export function factsOf(heads: readonly FrameHead[]): Omit<SegmentFacts, 'labels' | 'bestScore'> {
  const attempts: Record<string, AttemptFrames> = {};
  for (const { attempt, seq } of heads) {
    const known = attempts[attempt];
    attempts[attempt] = known ? [known[0] + 1, Math.min(known[1], seq), Math.max(known[2], seq)] : [1, seq, seq];
  }
  const range = (column: 'seq' | 'position' | 'frameTimeMs') => {
    let [least, most] = [Infinity, -Infinity];
    for (const head of heads) {
      least = Math.min(least, head[column]);
      most = Math.max(most, head[column]);
    }
    return [least, most] as const;
  };
  const [firstSeq, lastSeq] = range('seq');
  const [firstPosition, lastPosition] = range('position');
  const [firstTimeMs, lastTimeMs] = range('frameTimeMs');
  return {
    firstSeq,
    lastSeq,
    firstPosition,
    lastPosition,
    firstTimeMs,
    lastTimeMs,
    frames: heads.length,
    attempts,
  };
}

function bestScoreOf(frames: readonly SegmentFrame[]): number | undefined {
  let best: number | undefined;
  for (const { objects } of frames)
    // Objects come with the highest score first; a stored text may have any order.
    for (const score of typeof objects === 'string' ? storedScores(objects) : [objects[0]?.score])
      if (score !== undefined && (best === undefined || score > best)) best = score;
  return best;
}
