import { execFile } from 'node:child_process';
import { z } from 'zod';
import { MAX_PIXELS, VIDEO_DECODERS } from './ffmpeg-arguments.ts';
import { sandboxed } from './sandbox.ts';
import type { SandboxMode } from './sandbox.ts';

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

const KNOWN = new Set(VIDEO_DECODERS.split(','));
const ENTRIES =
  'stream=codec_name,width,height:stream_disposition=attached_pic:stream_side_data=rotation:format=duration';

/** What a local MP4 or MOV file holds, asked of ffprobe under limits. Sizes are those a viewer sees, after rotation. */
export async function probeFile(path: string, limits: { timeoutMs: number; sandbox: SandboxMode }): Promise<FileProbe> {
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
  const plan = { mode: limits.sandbox, file: path, cpuSeconds: 10 };
  const [command, argv] = await sandboxed(plan, 'ffprobe', args);
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' };
  const options = { timeout: limits.timeoutMs, killSignal: 'SIGKILL', maxBuffer: 1 << 20, env } as const;
  const { promise, resolve } = Promise.withResolvers<FileProbe>();
  execFile(command, argv, options, (error, stdout) => {
    if (error) resolve({ isReadable: false, reason: error.killed === true ? 'timeout' : 'unreadable' });
    else resolve(judge(stdout));
  });
  return promise;
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
