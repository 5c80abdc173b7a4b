import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import type { Shape } from '@vision/contracts/model-input';
import { scaleExpression } from '../src/decoding/scale-expression.ts';
import { boundedFit, fitTo } from '../src/domain/frame-fit.ts';
import type { FrameFit } from '../src/domain/frame-fit.ts';

const run = promisify(execFile);
const shapes: Shape[] = [
  [416, 416],
  [544, 416],
  [736, 416],
  [416, 544],
  [416, 736],
];
const fits: [string, FrameFit][] = [
  ['stretched into the nearest of five shapes', { kind: 'shapes', shapes, resize: 'stretch' }],
  ['letterboxed into the nearest of five shapes', { kind: 'shapes', shapes, resize: 'letterbox' }],
  ['stretched into one shape', { kind: 'shapes', shapes: [[640, 480]], resize: 'stretch' }],
  ['shrunk to a longest side', { kind: 'longest_side', side: 320 }],
  ['bounded', boundedFit({ kind: 'shapes', shapes, resize: 'stretch' }, 160)],
];
const sources = [
  [64, 64],
  [768, 576],
  [1920, 1080],
  [1278, 718],
  [720, 1280],
  [576, 768],
  [3000, 2],
  [2, 3000],
] as const;

/** The size of one frame of a source after ffmpeg's scaling. */
async function sizeByFfmpeg(width: number, height: number, fit: FrameFit): Promise<string> {
  const source = ['-f', 'lavfi', '-i', `color=s=${width}x${height}:d=1`];
  const scaled = ['-vf', `scale=${scaleExpression(fit)},showinfo`, '-frames:v', '1', '-f', 'null', '-'];
  const { stderr } = await run('ffmpeg', ['-nostdin', '-hide_banner', ...source, ...scaled]);
  return /Parsed_showinfo.* s:(\d+x\d+) /.exec(stderr)?.[1] ?? stderr;
}

test.each(fits)('a live source is scaled to the size that its detector needs: %s', async (_what, fit) => {
  const sizes = await Promise.all(sources.map(([width, height]) => sizeByFfmpeg(width, height, fit)));
  const wanted = sources.map(([width, height]) => fitTo({ width, height }, fit));
  expect(sizes).toEqual(wanted.map(({ width, height }) => `${width}x${height}`));
});
