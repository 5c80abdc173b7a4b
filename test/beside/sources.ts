import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { startLiveSource } from '../../examples/live-source.ts';
import { madeVideo } from '../support/video.ts';

/** What the callers of a run send. */
export interface Sources {
  /** A live stream that never ends. */
  streamUrl: string;
  /** A video of a few seconds. */
  clip: Buffer;
  /** An MP4 file without pictures: refused after its unit was taken. */
  soundOnly: Buffer;
  picture: Buffer;
  close: () => void;
}

/** Small and slow, so that decoding takes little of the machine. */
const pictures = ['-f', 'lavfi', '-i', 'testsrc=size=160x120:rate=5'];
const encoding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p', '-g', '5'];

export async function startSources(folder: string): Promise<Sources> {
  mkdirSync(folder, { recursive: true });
  const loop = join(folder, 'loop.mp4');
  writeFileSync(loop, await madeVideo('loop.mp4', ...pictures, '-t', '30', ...encoding));
  const { url, close } = await startLiveSource({ video: loop });
  return {
    streamUrl: url,
    clip: await madeVideo('clip.mp4', ...pictures, '-t', '6', ...encoding),
    soundOnly: await madeVideo('sound.mp4', '-f', 'lavfi', '-i', 'sine=d=1', '-c:a', 'aac'),
    picture: await sharp({ create: { width: 64, height: 48, channels: 3, background: 'orange' } })
      .jpeg()
      .toBuffer(),
    close,
  };
}
