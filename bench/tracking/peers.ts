import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Box } from '../../services/inference/src/tracking/box-motion.ts';
import type { Scores } from './metrics.ts';
import type { Compared, Sequence, Shown } from './sequence.ts';

/** Boxes with their scores, for each frame of each sequence. */
export type Followed = (Shown & { score: number })[][][];

export interface PeersAnswer {
  /** What trackers written by others make of the detections, by name. */
  followed: Map<string, Followed>;
  /** What metrics written by others say of what was shown. */
  judged: Scores[];
}

/**
 * Asks trackers and metrics that others wrote; a text says why they did not run. They are Python:
 * `pip install trackers motmetrics` somewhere, and `TRACKING_PYTHON` names its interpreter.
 */
export async function askPeers(sequences: Sequence[], shown: Compared[][]): Promise<PeersAnswer | string> {
  const python = process.env['TRACKING_PYTHON'] ?? 'python3';
  const question = {
    sequences: sequences.map(({ fps, aspect, frames }) => ({
      fps,
      aspect,
      frames: frames.map(({ found }) => found.map(({ bbox, score }) => [...corners(bbox), score])),
    })),
    shown: shown.map((frames) => frames.map((frame) => [frame.truth.map(named), frame.shown.map(named)])),
  };
  const child = spawn(python, ['-W', 'ignore', join(import.meta.dirname, 'peers.py')]);
  const ended = once(child, 'close').catch((error: unknown) => [String(error)]);
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(question));
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) return errors.trim().split('\n').at(-1) || `${python}: ${String(code)}`;
  const { followed, judged } = JSON.parse(output) as PythonAnswer;
  return {
    judged,
    followed: new Map(
      Object.entries(followed).map(([name, all]) => [
        name,
        all.map((frames) => frames.map((boxes) => boxes.map(shownAs))),
      ]),
    ),
  };
}

type PythonBox = [id: number, left: number, top: number, right: number, bottom: number, score: number];

interface PythonAnswer {
  followed: Record<string, PythonBox[][][]>;
  judged: Scores[];
}

const corners = ({ cx, cy, width, height }: Box) => [cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2];

const named = ({ id, bbox }: Shown) => [id, ...corners(bbox)];

function shownAs([id, left, top, right, bottom, score]: PythonBox) {
  const bbox = { cx: (left + right) / 2, cy: (top + bottom) / 2, width: right - left, height: bottom - top };
  return { id, score, bbox };
}
