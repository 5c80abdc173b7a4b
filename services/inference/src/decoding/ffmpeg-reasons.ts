import type { SourceReason } from '@vision/streams/source-error';

// Most specific first: ffmpeg prints several lines for one failure.
const PATTERNS: readonly [RegExp, SourceReason][] = [
  // SIGXCPU: its processor time is used up.
  [/^\[info\]\s+Exiting normally, received signal 24\.$/, 'decode_time_exceeded'],
  [/matches no streams/, 'no_video_track'],
  [/Error while opening decoder for input stream|Decoder \(codec [^)]*\) not found for input/, 'codec_unsupported'],
  [/moov atom not found|Invalid data found when processing input|Format not on whitelist/, 'unreadable'],
  [/could not find codec parameters|Could not find codec parameters/, 'unreadable'],
];

const MAX_LINE = 4096;

/** Name of the filter that scales snapshots; ffmpeg numbers those without a name. */
export const SNAPSHOT_SCALER = 'scale@snapshot';

/** Properties of the decoded video that determine its cost. */
export interface Video {
  /** Name in ffmpeg; undefined when ffmpeg did not print it. */
  codec: string | undefined;
  width: number;
  height: number;
}

/** Size of a frame before and after scaling. */
export interface Geometry extends Video {
  scaledWidth: number;
  scaledHeight: number;
}

/**
 * Extracts the codec, the scalers' sizes and the reason of a failure from ffmpeg's messages, and keeps nothing else:
 * the text may quote addresses and titles of the source.
 */
export function createMessageReader(
  onGeometry: (geometry: Geometry) => void,
  onSnapshotSize: (size: { width: number; height: number }) => void = () => undefined,
) {
  let rest = '';
  let rank = PATTERNS.length;
  let codec: string | undefined;
  const readLine = (line: string) => {
    // The first match is the source; the outputs match later.
    codec ??= /^\[info\]\s+Stream #0:\d+\S*: Video: (\w{1,20})/.exec(line)?.[1];
    const scaler = /^\[(Parsed_scale_\d+|scale@snapshot) @ .*\bw:(\d+) h:(\d+) fmt:\S+ .*-> w:(\d+) h:(\d+) fmt:rgb24/;
    const sizes = scaler.exec(line);
    if (sizes) {
      const [width = 0, height = 0, scaledWidth = 0, scaledHeight = 0] = sizes.slice(2).map(Number);
      if (sizes[1] === SNAPSHOT_SCALER) onSnapshotSize({ width: scaledWidth, height: scaledHeight });
      else onGeometry({ codec, width, height, scaledWidth, scaledHeight });
    }
    const found = PATTERNS.findIndex(([pattern]) => pattern.test(line));
    if (found >= 0) rank = Math.min(rank, found);
  };
  return {
    push: (text: string) => {
      const lines = (rest + text).split(/[\r\n]/);
      rest = (lines.pop() ?? '').slice(0, MAX_LINE);
      lines.forEach((line) => readLine(line.slice(0, MAX_LINE)));
    },
    reason: (): SourceReason | undefined => PATTERNS[rank]?.[1],
  };
}
