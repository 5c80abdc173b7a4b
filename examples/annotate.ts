import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import sharp from 'sharp';
import type { components } from '@vision/client';

type Detected = Pick<components['schemas']['TrackedObject'], 'bbox' | 'label' | 'score'> & { track_id?: string };

const run = promisify(execFile);
const COLOURS = ['#ff3b30', '#34c759', '#007aff', '#ff9500', '#af52de', '#00c7be', '#ffcc00', '#ff2d55'];

/** Draws the detections over a picture and writes it as PNG. */
export async function annotate(picture: Buffer | string, objects: Detected[], target: string): Promise<void> {
  const image = sharp(picture).autoOrient();
  const { info, data } = await image.png().toBuffer({ resolveWithObject: true });
  const boxes = objects.map((object) => box(object, info)).join('');
  const overlay = `<svg width="${info.width}" height="${info.height}" xmlns="http://www.w3.org/2000/svg">${boxes}</svg>`;
  await sharp(data)
    .composite([{ input: Buffer.from(overlay) }])
    .png()
    .toFile(target);
}

/** The frame of a video file at this time, as PNG bytes. */
export async function frameAt(video: string, timeMs: number): Promise<Buffer> {
  const seek = String(Math.max(0, timeMs) / 1000);
  const args = ['-v', 'error', '-ss', seek, '-i', video, '-frames:v', '1', '-f', 'image2pipe', '-c:v', 'png', 'pipe:1'];
  const { stdout } = await run('ffmpeg', args, { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

function box({ label, score, track_id, bbox }: Detected, { width, height }: { width: number; height: number }): string {
  const x = Math.round((bbox.cx - bbox.width / 2) * width);
  const y = Math.round((bbox.cy - bbox.height / 2) * height);
  const colour = COLOURS[hash(track_id ?? label) % COLOURS.length] ?? '#ff3b30';
  const text = `${label} ${score.toFixed(2)}${track_id ? ` #${track_id}` : ''}`;
  return (
    `<rect x="${x}" y="${y}" width="${Math.round(bbox.width * width)}" height="${Math.round(bbox.height * height)}" fill="none" stroke="${colour}" stroke-width="3"/>` +
    `<rect x="${x}" y="${Math.max(0, y - 18)}" width="${text.length * 8 + 6}" height="18" fill="${colour}"/>` +
    `<text x="${x + 3}" y="${Math.max(13, y - 5)}" font-family="sans-serif" font-size="13" fill="#fff">${escapeXml(text)}</text>`
  );
}

function hash(text: string): number {
  let value = 0;
  for (const char of text) value = (value * 31 + char.charCodeAt(0)) % 100_003;
  return value;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
