import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Sequence, Shown } from './sequence.ts';

/** Boxes with their scores, for each frame of each sequence. */
export type Followed = (Shown & { score: number })[][][];

/**
 * What trackers written by others make of the same detections, by name; or the reason why they did not run. They are
 * Python: `pip install trackers motmetrics` somewhere, and `TRACKING_PYTHON` names its interpreter.
 */
export async function followWithPeers(sequences: Sequence[]): Promise<Map<string, Followed> | string> {
  const python = process.env['TRACKING_PYTHON'] ?? 'python3';
  const input = sequences.map(({ fps, aspect, frames }) => ({
    fps,
    aspect,
    frames: frames.map(({ found }) => found.map(({ bbox, score }) => [...corners(bbox), score])),
  }));
  const child = spawn(python, ['-W', 'ignore', join(import.meta.dirname, 'peers.py')]);
  const ended = once(child, 'close').catch((error: unknown) => [String(error)]);
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(input));
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) return errors.trim().split('\n').at(-1) ?? `${python}: ${String(code)}`;
  const answer = JSON.parse(output) as Record<string, [number, number, number, number, number, number][][][]>;
  return new Map(
    Object.entries(answer).map(([name, followed]) => [
      name,
      followed.map((frames) =>
        frames.map((boxes) =>
          boxes.map(([id, left, top, right, bottom, score]) => ({
            id,
            score,
            bbox: { cx: (left + right) / 2, cy: (top + bottom) / 2, width: right - left, height: bottom - top },
          })),
        ),
      ),
    ]),
  );
}

function corners({ cx, cy, width, height }: Sequence['frames'][number]['found'][number]['bbox']): number[] {
  return [cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2];
}
