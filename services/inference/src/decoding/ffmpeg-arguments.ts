import type { FrameFit } from '../domain/frame-fit.ts';
import type { Turn } from '../domain/mp4/turn.ts';
import type { LiveFormat } from '../inputs/messages.ts';
import { inputArguments } from './input-arguments.ts';
import { SNAPSHOT_SCALER } from './ffmpeg-reasons.ts';
import { scaleExpression } from './scale-expression.ts';

/** Which frames of a video are sampled, and their size. */
export interface FileSampling {
  /** Frames a second of video time: the first frame of every 1/fps interval is taken. */
  fps: number;
  /** Size of the output frames; fixed, so a change of size inside the file cannot change it. */
  scaled: { width: number; height: number };
  /** Rotation of the frames in the validated index. */
  turn: Turn;
  /** Edit lists are applied only when validation has found some. */
  hasEdits: boolean;
  /** Samples only frames of intervals after the one that contains this time; milliseconds. */
  afterMs?: number | undefined;
  snapshots?: SnapshotSampling | undefined;
}

/** One frame a second is also written in the size of a snapshot, to a second output. */
interface SnapshotSampling {
  maxSide: number;
}

export interface LiveSampling {
  fps: number;
  /** Size of the frames; every fit is bounded, and so is the memory. */
  fit: FrameFit;
  snapshots?: SnapshotSampling | undefined;
}

export const VIDEO_DECODERS = 'h264,hevc,mpeg4,mjpeg,mpeg2video,vp8,vp9,libdav1d,av1,prores';

/** Largest frame that is decoded: 8192×4320. */
export const MAX_PIXELS = 8192 * 4320;

// Limits for hostile files: area of a frame, number of streams, single allocations.
const LIMITS = ['-max_pixels', String(MAX_PIXELS), '-max_streams', '16'];
const COMMON = ['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'level+verbose', '-max_alloc', '536870912'];
// Half a millisecond of tolerance: timestamps are rounded to the time base of the container.
const ROUNDING_S = 0.0005;

/**
 * Arguments that read a file and write sampled frames: pixels to descriptor 1, one record per frame to descriptor 3.
 * Snapshots go to descriptor 4, raw like the frames, so that no output of a decoder has to be parsed; their records go
 * to 5. Timestamps are the file's own (`-copyts`), so a sample has the same time whether or not the start was skipped.
 */
export function fileArguments(path: string, sampling: FileSampling): string[] {
  const { fps, scaled, turn, hasEdits, afterMs, snapshots } = sampling;
  const bucket = intervalOf('t', fps);
  const before = afterMs === undefined ? '-1e15' : String(intervalNumber(afterMs, fps));
  const select = `gt(${bucket},if(isnan(prev_selected_t),${before},${intervalOf('prev_selected_t', fps)}))`;
  const seek = afterMs === undefined ? [] : ['-noaccurate_seek', '-seek_timestamp', '1', '-ss', seconds(afterMs)];
  return [
    COMMON,
    ['-copyts'],
    seek,
    LIMITS,
    ['-protocol_whitelist', 'file'],
    ['-format_whitelist', 'mov'],
    ['-codec_whitelist', VIDEO_DECODERS],
    hasEdits ? [] : ['-ignore_editlist', '1'],
    ['-threads', '2'],
    ['-noautorotate'],
    ['-i', `file:${path}`],
    outputs([`select='${select}'`, ...turnFilters(turn)], `w=${scaled.width}:h=${scaled.height}`, snapshots),
  ].flat();
}

/** The same for a live source, which is read from standard input. Timestamps are the stream's own. */
export function liveArguments(format: LiveFormat, sampling: LiveSampling): string[] {
  const { fps, fit, snapshots } = sampling;
  const select = [`select='${firstOfInterval(fps)}'`];
  return [
    COMMON,
    LIMITS,
    ['-codec_whitelist', VIDEO_DECODERS],
    ['-fflags', '+discardcorrupt'],
    ['-flags', 'low_delay'],
    ['-threads', '1'],
    inputArguments(format),
    outputs(select, scaleExpression(fit), snapshots),
  ].flat();
}

/** Number of the interval that contains a time in milliseconds, as the filters count. */
export function intervalNumber(timeMs: number, fps: number): number {
  return Math.floor(fps * (timeMs / 1000 + ROUNDING_S));
}

function outputs(before: string[], scale: string, snapshots: SnapshotSampling | undefined): string[] {
  return snapshots ? bothOutputs(before, scale, snapshots) : outputArguments(before, scale);
}

/**
 * `0:V:0` is the first video stream that is no cover image. Every frame has exactly one record: the last filter writes
 * it, and no later step adds or drops frames (`-fps_mode passthrough`). Only a key of our own is printed, so the
 * stream's metadata cannot forge records.
 */
function outputArguments(before: string[], scale: string): string[] {
  const filters = [...before, ...pixelFilters(`scale=${scale}`, 3)];
  return [
    ['-map', '0:V:0'],
    ['-an', '-sn', '-dn'],
    ['-vf', filters.join(',')],
    ['-filter_threads', '1'],
    rawOutput(1),
  ].flat();
}

/** Every snapshot is a sampled frame in another size, with the same time. */
function bothOutputs(before: string[], scale: string, { maxSide }: SnapshotSampling): string[] {
  const large = scaleExpression({ kind: 'longest_side', side: maxSide });
  const frames = pixelFilters(`scale=${scale}`, 3);
  const snapshots = [`select='${firstOfInterval(1)}'`, ...pixelFilters(`${SNAPSHOT_SCALER}=${large}`, 5)];
  const graph = [
    `[0:V:0]${[...before, 'split=2'].join(',')}[sampled][kept]`,
    `[sampled]${frames.join(',')}[frames]`,
    `[kept]${snapshots.join(',')}[snapshots]`,
  ];
  return [
    ['-filter_complex', graph.join(';')],
    ['-filter_complex_threads', '1'],
    ['-map', '[frames]'],
    rawOutput(1),
    ['-map', '[snapshots]'],
    rawOutput(4),
  ].flat();
}

function pixelFilters(scaler: string, records: number): string[] {
  return [
    // The scaling of images; when scaling down the kernel grows, so small details do not flicker between frames.
    `${scaler}:flags=bilinear`,
    'format=rgb24',
    'settb=1/1000',
    'metadata=mode=add:key=sample:value=1',
    `metadata=mode=print:key=sample:direct=1:file=pipe\\\\:${records}`,
  ];
}

function rawOutput(descriptor: number): string[] {
  return [
    ['-fps_mode', 'passthrough'],
    ['-c:v', 'rawvideo'],
    // With more threads it encodes frames in parallel and outputs each only after one or more later ones arrived.
    ['-threads', '1'],
    ['-f', 'rawvideo'],
    ['-flush_packets', '1'],
    [`pipe:${descriptor}`],
  ].flat();
}

/** Selects the first frame of every interval of a source that may jump in time. */
function firstOfInterval(fps: number): string {
  return `isnan(prev_selected_t)+not(eq(${intervalOf('t', fps)},${intervalOf('prev_selected_t', fps)}))`;
}

/** Filters that rotate frames as a player does. They follow the selection, so only samples are rotated. */
function turnFilters([a, b, c, d]: Turn): string[] {
  if (b === 1) return [c > 0 ? 'transpose=cclock_flip' : 'transpose=clock'];
  if (b === -1) return [c < 0 ? 'transpose=clock_flip' : 'transpose=cclock'];
  return [...(a < 0 ? ['hflip'] : []), ...(d < 0 ? ['vflip'] : [])];
}

function intervalOf(time: string, fps: number): string {
  return `floor(${fps}*(${time}+${ROUNDING_S}))`;
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}
