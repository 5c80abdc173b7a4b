import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { LiveReader } from '../../src/readers/live-reader.ts';
import { presentationTimes } from './videos.ts';

const run = promisify(execFile);
const CLUSTER = Buffer.from('1f43b675', 'hex');

/** Writes what an input would hand to ffmpeg into a file: so many pictures, or all until the source ends. */
export async function capture(input: LiveReader, path: string, pictures: number): Promise<void> {
  input.play();
  const pieces: Buffer[] = [];
  let count = 0;
  for await (const piece of input.video) {
    pieces.push(piece as Buffer);
    count += clustersIn(piece as Buffer);
    // The last one may not be whole yet.
    if (count > pictures) break;
  }
  await input.close();
  await writeFile(path, Buffer.concat(pieces));
}

/** Clusters that begin in a piece; one that begins at its border is not counted. */
function clustersIn(piece: Buffer): number {
  let count = 0;
  for (let at = piece.indexOf(CLUSTER); at >= 0; at = piece.indexOf(CLUSTER, at + 1)) count += 1;
  return count;
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
