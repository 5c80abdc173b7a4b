import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import type { LiveInput } from '../../src/inputs/live-input.ts';
import { presentationTimes } from './videos.ts';

const run = promisify(execFile);
const CLUSTER = Buffer.from('1f43b675', 'hex');

/** Writes what an input would hand to ffmpeg into a file: so many pictures, or all until the source ends. */
export async function capture(input: LiveInput, path: string, pictures: number): Promise<void> {
  const stream = new PassThrough();
  input.feed(stream);
  const pieces: Buffer[] = [];
  let count = 0;
  for await (const piece of stream) {
    pieces.push(piece as Buffer);
    if ((piece as Buffer).indexOf(CLUSTER) === 0) count += 1;
    if (count >= pictures) break;
  }
  input.close();
  await writeFile(path, Buffer.concat(pieces));
}

/** Every picture of a file as ffmpeg decodes it: what it shows and when. */
export async function decoded(path: string): Promise<{ picture: string; timeMs: number }[]> {
  const times = await presentationTimes(path);
  const output = ['-map', '0:v', '-fps_mode', 'passthrough', '-pix_fmt', 'yuv420p', '-f', 'framemd5', '-'];
  const { stdout } = await run('ffmpeg', ['-v', 'error', '-i', path, ...output], { maxBuffer: 1 << 26 });
  const pictures = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return pictures.map((line, index) => ({
    picture: line.split(',').at(-1)?.trim() ?? '',
    timeMs: times[index] ?? Number.NaN,
  }));
}
