import type { LiveFormat } from '../inputs/messages.ts';

/** Formats that carry no times: ffmpeg would assume 25 frames a second for every camera. */
const TIMELESS: ReadonlySet<LiveFormat['container']> = new Set(['mjpeg', 'mpjpeg', 'h264']);

/**
 * ffmpeg looks at this much of a stream before the first frame: less than a second of it, so frames are not held back.
 */
const LIVE_PROBING = ['-probesize', '1000000', '-analyzeduration', '500000', '-fpsprobesize', '0'];

/** Arguments of ffmpeg up to and with `-i`, for what a reader writes. They name nothing of the source. */
export function inputArguments({ container, delivery }: LiveFormat): string[] {
  const isPaced = delivery === 'recording' || delivery === 'pieces';
  const isTimeless = delivery === 'body' && TIMELESS.has(container);
  return [
    delivery === 'pieces' ? [] : LIVE_PROBING,
    isPaced ? ['-re'] : [],
    isTimeless ? ['-use_wallclock_as_timestamps', '1'] : [],
    ['-protocol_whitelist', 'pipe'],
    ['-format_whitelist', container],
    ['-f', container, '-i', 'pipe:0'],
  ].flat();
}
