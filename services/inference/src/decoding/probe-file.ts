import { once } from 'node:events';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { judgeMp4, Mp4RefusedError } from '../domain/judge-mp4.ts';
import { MAX_PIXELS, VIDEO_DECODERS } from './ffmpeg-arguments.ts';
import { killGroup } from '../sandbox/kill-group.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

export type FileProbe =
  | { isReadable: true; width: number; height: number; durationMs: number; codec: string }
  | { isReadable: false; reason: 'no_video_track' | 'unreadable' | 'codec_unsupported' | 'timeout' };

const report = z.object({
  format: z.object({ duration: z.coerce.number().optional() }).optional(),
  streams: z.array(
    z.object({
      codec_name: z.string().default('unknown'),
      width: z.number().optional(),
      height: z.number().optional(),
      disposition: z.object({ attached_pic: z.number() }).optional(),
      side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
    }),
  ),
});

const PROBE_CPU_S = 10;
const KNOWN = new Set(VIDEO_DECODERS.split(','));
const ENTRIES =
  'stream=codec_name,width,height:stream_disposition=attached_pic:stream_side_data=rotation:format=duration';

/** What a local MP4 or MOV file holds, asked of ffprobe under limits. Sizes are those a viewer sees, after rotation. */
export async function probeFile(path: string, limits: { timeoutMs: number; sandbox: Sandbox }): Promise<FileProbe> {
  if (!(await isWellFormed(path))) return { isReadable: false, reason: 'unreadable' };
  const args = [
    ['-v', 'error'],
    ['-max_alloc', '268435456'],
    ['-protocol_whitelist', 'file'],
    ['-format_whitelist', 'mov'],
    ['-max_streams', '16'],
    ['-probesize', '5000000'],
    ['-analyzeduration', '5000000'],
    ['-threads', '1'],
    ['-select_streams', 'v'],
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
    if (child.exitCode === 0) return judge(output);
  } catch {
    // The program could not be started; the answer is the same as for one that failed.
  } finally {
    clearTimeout(timer);
  }
  return { isReadable: false, reason: watch.isLate ? 'timeout' : 'unreadable' };
}

/** Whether the structure of the file asks a decoder for no more than a video needs. */
async function isWellFormed(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    await judgeMp4(async (position, length) => {
      const buffer = Buffer.alloc(Math.max(0, Math.min(length, size - position)));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      return buffer.subarray(0, bytesRead);
    }, size);
    return true;
  } catch (error) {
    if (error instanceof Mp4RefusedError) return false;
    throw error;
  } finally {
    await file.close();
  }
}

function judge(stdout: string): FileProbe {
  const parsed = report.safeParse(parseJson(stdout));
  if (!parsed.success) return { isReadable: false, reason: 'unreadable' };
  const video = parsed.data.streams.find((stream) => stream.disposition?.attached_pic !== 1);
  if (!video) return { isReadable: false, reason: 'no_video_track' };
  const { width = 0, height = 0, codec_name: codec } = video;
  if (!KNOWN.has(codec)) return { isReadable: false, reason: 'codec_unsupported' };
  if (width * height < 1 || width * height > MAX_PIXELS) return { isReadable: false, reason: 'unreadable' };
  const rotation = video.side_data_list?.find((data) => data.rotation !== undefined)?.rotation ?? 0;
  const isTurned = Math.abs(Math.round(rotation / 90)) % 2 === 1;
  const durationMs = Math.round((parsed.data.format?.duration ?? 0) * 1000);
  return { isReadable: true, width: isTurned ? height : width, height: isTurned ? width : height, durationMs, codec };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
