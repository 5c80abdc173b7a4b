import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { LiveReader } from '../../src/readers/live-reader.ts';
import { presentationTimes } from './videos.ts';

const run = promisify(execFile);
const CLUSTER = Buffer.from('1f43b675', 'hex');

/** Writes the data that ffmpeg would read from an input to a file: this many frames, or all until the source ends. */
export async function capture(input: LiveReader, path: string, pictures: number): Promise<void> {
  input.play();
  const pieces: Buffer[] = [];
  let count = 0;
  for await (const piece of input.video) {
    pieces.push(piece as Buffer);
    count += clustersIn(piece as Buffer);
    // The last one may be incomplete.
    if (count > pictures) break;
  }
  await input.close();
  await writeFile(path, Buffer.concat(pieces));
}

/** Number of clusters that begin in a chunk; one whose id is split between two chunks is not counted. */
function clustersIn(piece: Buffer): number {
  let count = 0;
  for (let at = piece.indexOf(CLUSTER); at >= 0; at = piece.indexOf(CLUSTER, at + 1)) count += 1;
  return count;
}

/** Every frame of a file as decoded by ffmpeg: a digest of its pixels and its time. */
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
