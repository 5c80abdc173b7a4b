import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startLiveSource } from '../examples/live-source.ts';
import { Caller, form, scene } from '../test/support/system.ts';
import { followAll, results, video } from '../test/support/video.ts';
import { startDetectors } from './embedded-detector.ts';
import { atLeast, atMost, median, quantile, timed } from './figures.ts';
import type { Figure } from './figures.ts';

export const name = 'video';

const root = join(import.meta.dirname, '..');
const street = join(root, 'examples/street.mp4');
const FPS = 5;
const ROUNDS = 3;
const LIVE_FRAMES = 150;
const SIZE = { width: 768, height: 576 };

/**
 * Frames per second of the whole pipeline against a bare ffmpeg and detector loop on the same file; delay
 * of live frames.
 */
export async function run(): Promise<{ figures: Figure[] }> {
  const caller = await Caller.create({ video_tasks_per_day: 1000, requests_per_second: 10_000, burst: 10_000 });
  return { figures: [...(await pipeline(caller)), ...(await delay(caller))] };
}

/** From the upload to the last frame read, everything included, over decoding and detecting in one process. */
async function pipeline(caller: Caller): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'vision-bench-'));
  const file = join(folder, 'minute.mp4');
  await promisify(execFile)('ffmpeg', ['-v', 'error', '-stream_loop', '4', '-i', street, '-c', 'copy', file]);
  const bytes = await readFile(file);
  const bare = await bareLoop(file);
  const ratios: number[] = [];
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    let count = 0;
    const bareMs = await timed(async () => (count = await bare.run()));
    const serviceMs = await timed(async () => {
      const { body, text } = await caller.createUpload(form(video(bytes), scene('person_vehicle')));
      if (typeof body['task_id'] !== 'string') throw new Error(text);
      const frames = await followAll(caller, body['task_id'], 500);
      if (Math.abs(frames.length - count) > 2)
        throw new Error(`${frames.length} frames read, ${count} in the bare loop`);
    });
    ratios.push(bareMs / serviceMs);
    rates.push((count * 1000) / serviceMs);
  }
  await bare.stop();
  await rm(folder, { recursive: true });
  return [
    { name: 'pipeline over bare ffmpeg + detector loop', value: median(ratios), unit: 'ratio', target: atLeast(0.85) },
    { name: 'pipeline, upload to last frame read', value: median(rates), unit: 'frames/s' },
  ];
}

/**
 * What anyone would write first: ffmpeg gives raw frames at the model's size, the detector takes one after the other.
 */
async function bareLoop(file: string) {
  const { detectors, served } = await startDetectors(availableParallelism());
  const { spawn } = await import('node:child_process');
  const { width, height } = served.detector.fit(SIZE);
  const frameBytes = width * height * 3;
  return {
    stop: () => detectors.stop(),
    run: async () => {
      const filter = `fps=${FPS},scale=${width}:${height}`;
      const child = spawn('ffmpeg', [
        '-v',
        'error',
        '-i',
        file,
        '-vf',
        filter,
        '-f',
        'rawvideo',
        '-pix_fmt',
        'rgb24',
        'pipe:1',
      ]);
      let held = Buffer.alloc(0);
      let count = 0;
      for await (const chunk of child.stdout) {
        held = Buffer.concat([held, chunk as Buffer]);
        while (held.length >= frameBytes) {
          const image = { width, height, data: held.subarray(0, frameBytes) };
          held = held.subarray(frameBytes);
          await served.detector.detect(image, { minScore: served.scene.lower_bound, labels: served.scene.labels });
          count += 1;
        }
      }
      return count;
    },
  };
}

/** Milliseconds from the capture of a live frame, as its time stamp says, to its first appearance in a page. */
async function delay(caller: Caller): Promise<Figure[]> {
  const source = await startLiveSource({ video: street });
  const { body, text } = await caller.createStream({ scene_code: 'person_vehicle', stream_url: source.url });
  if (typeof body['task_id'] !== 'string') throw new Error(text);
  const taskId = body['task_id'];
  const delays: number[] = [];
  let cursor = '';
  while (delays.length < LIVE_FRAMES) {
    const page = await results(caller, taskId, `?limit=500${cursor ? `&cursor=${cursor}` : ''}`);
    const now = Date.now();
    for (const frame of page.items) delays.push(now - frame.frame_time_ms);
    cursor = page.resume_cursor;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  await caller.stop(taskId);
  source.close();
  return [
    { name: 'live frame captured to readable at 5 fps, p50', value: median(delays), unit: 'ms', target: atMost(500) },
    {
      name: 'live frame captured to readable at 5 fps, p99',
      value: quantile(delays, 0.99),
      unit: 'ms',
      target: atMost(2000),
    },
  ];
}
