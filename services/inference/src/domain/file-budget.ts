import type { SourceReason } from '@vision/streams/source-error';

/** What a video file asks of a decoder, by its validated index and the size of its images. */
export interface FileDemand {
  playedMs: number;
  /** Images that are decoded; those that edits repeat count as often. */
  samples: number;
  width: number;
  height: number;
  fileBytes: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Four times what encoders at their lowest bitrates make of a black image that never changes: 411,000 pixels a byte by
 * SVT-AV1 at 7680×4320, 168,000 by VP9, 34,000 by x264. A file beyond it names the same bytes for many images.
 */
const MAX_PIXELS_PER_BYTE = 4 * 411_000;

/** Why a file is refused for its size alone; undefined when it is within the budget of one unit. */
export function exceeds({ playedMs, samples, width, height, fileBytes }: FileDemand): SourceReason | undefined {
  if (playedMs > DAY_MS) return 'video_too_long';
  if (width * height * samples > MAX_PIXELS_PER_BYTE * fileBytes) return 'video_too_dense';
  return undefined;
}

/** Longest that a file may be decoded, so that one that never ends holds no place for good. */
export interface DecodeLimits {
  /** Processor time of the decoder, seconds. */
  cpuSeconds: number;
  /** Time for which the job waits for the decoder, milliseconds; the detector's time is not in it. */
  wallMs: number;
}

/** Far above what honest files take: eight cores in the pace of the video, and 24 times the video on a busy machine. */
export const decodeLimits = (playedMs: number): DecodeLimits => ({
  cpuSeconds: 300 + Math.ceil((8 * playedMs) / 1000),
  wallMs: 60 * 60 * 1000 + 24 * playedMs,
});
