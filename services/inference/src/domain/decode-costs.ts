import type { ImageSize } from '@vision/contracts/detection';

/** How much a new measurement counts against those before. */
const WEIGHT = 0.2;
/**
 * What decoding takes before any stream of its class was measured, in cores, at 25 frames a second: `make bench
 * BENCH=streams`.
 */
const START_CORES = { sd: 0.03, hd: 0.06, full_hd: 0.11, larger: 0.45 } as const;
/** H.265 and the rest beside H.264. */
const OTHER_CODEC = 1.35;

export const videoSizes = ['sd', 'hd', 'full_hd', 'larger'] as const;
export const videoCodecs = ['h264', 'hevc', 'other'] as const;

/** Streams that cost about the same to decode. */
export interface VideoClass {
  size: (typeof videoSizes)[number];
  codec: (typeof videoCodecs)[number];
}

export function classOf({ width, height }: ImageSize, codec: string | undefined): VideoClass {
  const pixels = width * height;
  return { size: sizeOf(pixels), codec: codec === 'h264' || codec === 'hevc' ? codec : 'other' };
}

function sizeOf(pixels: number): VideoClass['size'] {
  if (pixels <= 800 * 600) return 'sd';
  if (pixels <= 1366 * 768) return 'hd';
  return pixels <= 2048 * 1152 ? 'full_hd' : 'larger';
}

/** Cores that decoding takes, by class of the source. */
export interface DecodeCosts {
  add: (of: VideoClass, cores: number) => void;
  /** As measured of this class, else the start value. */
  coresFor: (of: VideoClass) => number;
  /** The classes that were measured. */
  measured: () => (VideoClass & { cores: number })[];
}

export function createDecodeCosts(): DecodeCosts {
  const averages = new Map<string, VideoClass & { cores: number }>();
  const coresFor = (of: VideoClass) => averages.get(keyOf(of))?.cores ?? startCores(of);
  return {
    add: (of, cores) => {
      const before = averages.get(keyOf(of))?.cores ?? cores;
      averages.set(keyOf(of), { ...of, cores: before + WEIGHT * (cores - before) });
    },
    coresFor,
    measured: () => [...averages.values()],
  };
}

const startCores = ({ size, codec }: VideoClass) => START_CORES[size] * (codec === 'h264' ? 1 : OTHER_CODEC);
const keyOf = ({ size, codec }: VideoClass) => `${size} ${codec}`;
