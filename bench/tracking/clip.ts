import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RgbImage } from '../../services/inference/src/domain/rgb-image.ts';
import type { Labelled } from './sequence.ts';

const root = join(import.meta.dirname, '../..');

/** The example video, picture by picture, with the people that someone saw on them. */
export interface Clip {
  fps: number;
  width: number;
  height: number;
  pictures: RgbImage[];
  /** For each picture. */
  people: Labelled[][];
  /** By the `id` of people. */
  names: string[];
}

/** `street-people.json`: for each person its boxes in pixels, `[picture, left, top, right, bottom]`. */
interface Annotation {
  fps: number;
  width: number;
  height: number;
  pictures: number;
  people: Record<string, number[][]>;
}

export async function loadClip(): Promise<Clip> {
  const text = await readFile(join(import.meta.dirname, 'data/street-people.json'), 'utf8');
  const { fps, width, height, pictures: count, people } = JSON.parse(text) as Annotation;
  const { stdout } = await promisify(execFile)(
    'ffmpeg',
    ['-v', 'error', '-i', join(root, 'examples/street.mp4'), '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1'],
    { encoding: 'buffer', maxBuffer: 2 ** 30 },
  );
  const size = width * height * 3;
  if (stdout.length !== count * size) throw new Error(`the clip has ${stdout.length / size} pictures, not ${count}`);
  const pictures = Array.from({ length: count }, (_, index) => ({
    width,
    height,
    data: stdout.subarray(index * size, (index + 1) * size),
  }));
  const seen = pictures.map((): Labelled[] => []);
  Object.values(people).forEach((boxes, id) => {
    for (const [picture = 0, left = 0, top = 0, right = 0, bottom = 0] of boxes) {
      const bbox = {
        cx: (left + right) / 2 / width,
        cy: (top + bottom) / 2 / height,
        width: (right - left) / width,
        height: (bottom - top) / height,
      };
      seen[picture]?.push({ id, bbox });
    }
  });
  return { fps, width, height, pictures, people: seen, names: Object.keys(people) };
}
