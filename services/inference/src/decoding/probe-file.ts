import { once } from 'node:events';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { exceeds } from '../domain/file-budget.ts';
import { Mp4RefusedError } from '../domain/mp4/box.ts';
import { NO_TRACK } from '../domain/mp4/tracks.ts';
import type { Mp4Track } from '../domain/mp4/tracks.ts';
import { isSideways, isZero } from '../domain/mp4/turn.ts';
import type { Turn } from '../domain/mp4/turn.ts';
import { validateMp4 } from '../domain/mp4/validate-mp4.ts';
import type { SourceReason } from '@vision/streams/source-error';
import { MAX_PIXELS, VIDEO_DECODERS } from './ffmpeg-arguments.ts';
import { killGroup } from '../sandbox/kill-group.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

export type FileProbe =
  | ReadableFile
  | {
      isReadable: false;
      reason: SourceReason;
      /** What validation refused, for the operator: the box, or what it and the decoder disagree about. */
      detail?: string;
    };

/** What is known of a video file before it is decoded. */
interface ReadableFile {
  isReadable: true;
  /** As a viewer sees it, after the turn. */
  width: number;
  height: number;
  /** How long it plays, by its validated index. */
  playedMs: number;
  codec: string;
  /** How the decoded images are to be turned. */
  turn: Turn;
  /** Whether the validated index has edit lists. */
  hasEdits: boolean;
}

const report = z.object({
  streams: z.array(
    z.object({
      id: z.coerce.number().optional(),
      codec_type: z.string().optional(),
      codec_name: z.string().default('unknown'),
      width: z.number().optional(),
      height: z.number().optional(),
      disposition: z.object({ attached_pic: z.number() }).optional(),
      side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
    }),
  ),
});

type Report = z.output<typeof report>;
type StreamReport = Report['streams'][number];

const PROBE_CPU_S = 10;
const KNOWN = new Set(VIDEO_DECODERS.split(','));
const ENTRIES = [
  'stream=id,codec_type,codec_name,width,height',
  'stream_disposition=attached_pic',
  'stream_side_data=rotation',
].join(':');

/**
 * What a local MP4 or MOV file holds: its structure is validated here, the rest is asked of ffprobe under limits. Where
 * ffprobe sees other tracks or turns than the validation did, the file is refused.
 */
export async function probeFile(path: string, limits: { timeoutMs: number; sandbox: Sandbox }): Promise<FileProbe> {
  const index = await validate(path);
  if (typeof index === 'string') return { isReadable: false, reason: 'unreadable', detail: index };
  const args = [
    ['-v', 'error'],
    ['-max_alloc', '268435456'],
    ['-protocol_whitelist', 'file'],
    ['-format_whitelist', 'mov'],
    ['-max_streams', '16'],
    ['-probesize', '5000000'],
    ['-analyzeduration', '5000000'],
    ['-threads', '1'],
    ['-show_entries', ENTRIES],
    ['-of', 'json'],
    ['-i', `file:${path}`],
  ].flat();
  const program = { program: 'ffprobe', args, readable: [path], cpuSeconds: PROBE_CPU_S };
  const child = limits.sandbox.spawn(program, ['ignore', 'pipe', 'ignore']);
  const watch = { isLate: false };
  const timer = setTimeout(() => {
    watch.isLate = true;
    killGroup(child);
  }, limits.timeoutMs);
  try {
    const [output] = await Promise.all([text(child.stdout as Readable), once(child, 'close')]);
    if (child.exitCode === 0) return compare(output, index);
  } catch {
    // The program could not be started; the answer is the same as for one that failed.
  } finally {
    clearTimeout(timer);
  }
  return { isReadable: false, reason: watch.isLate ? 'timeout' : 'unreadable' };
}

interface Index {
  tracks: Mp4Track[];
  fileBytes: number;
}

/** The tracks of the file, or what is refused. */
async function validate(path: string): Promise<Index | string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const tracks = await validateMp4(async (position, length) => {
      const buffer = Buffer.alloc(Math.max(0, Math.min(length, size - position)));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      return buffer.subarray(0, bytesRead);
    }, size);
    return { tracks, fileBytes: size };
  } catch (error) {
    if (error instanceof Mp4RefusedError) return error.message;
    throw error;
  } finally {
    await file.close();
  }
}

function compare(stdout: string, { tracks, fileBytes }: Index): FileProbe {
  const parsed = report.safeParse(parseJson(stdout));
  if (!parsed.success) return { isReadable: false, reason: 'unreadable' };
  const streams = parsed.data.streams.filter((stream) => stream.disposition?.attached_pic !== 1);
  const unknown = unvalidated(streams, tracks);
  if (unknown !== undefined) return { isReadable: false, reason: 'unreadable', detail: unknown };
  const video = streams.find((stream) => stream.codec_type === 'video');
  const track = tracks.find(({ id }) => id === video?.id);
  if (!video || !track) return { isReadable: false, reason: 'no_video_track' };
  const { width = 0, height = 0, codec_name: codec } = video;
  if (!KNOWN.has(codec)) return { isReadable: false, reason: 'codec_unsupported' };
  if (width * height < 1 || width * height > MAX_PIXELS) return { isReadable: false, reason: 'unreadable' };
  const excess = exceeds({ ...track, width, height, fileBytes });
  if (excess) return { isReadable: false, reason: excess };
  const [shownWidth, shownHeight] = isSideways(track.turn) ? [height, width] : [width, height];
  return {
    isReadable: true,
    width: shownWidth,
    height: shownHeight,
    playedMs: track.playedMs,
    codec,
    turn: track.turn,
    hasEdits: tracks.some(({ edits }) => edits > 0),
  };
}

/** What ffprobe sees and the validation did not: a hidden index or track shows here. */
function unvalidated(streams: StreamReport[], tracks: Mp4Track[]): string | undefined {
  const left = new Map(tracks.map((track) => [track.id, track]));
  for (const stream of streams) {
    const track = left.get(stream.id ?? NO_TRACK);
    if (!track) return 'a track that only the decoder sees';
    left.delete(track.id);
    if (stream.codec_type === 'video' && !isSameTurn(stream, track.turn)) return 'a turn that only the decoder sees';
  }
  return undefined;
}

function isSameTurn({ side_data_list: sideData }: StreamReport, turn: Turn): boolean {
  const rotation = sideData?.find((data) => data.rotation !== undefined)?.rotation ?? 0;
  // A matrix of zeros has no angle.
  return isZero(turn) || (rotation % 90 === 0 && (Math.abs(rotation / 90) % 2 === 1) === isSideways(turn));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
