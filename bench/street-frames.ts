import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { DetectedObject, TrackedObject } from '@vision/contracts/detection';
import type { FrameData } from '@vision/contracts/frame-events';
import { createTracker } from '../services/inference/src/tracking/tracker.ts';
import { startDetectors } from './embedded-detector.ts';

const root = join(import.meta.dirname, '..');
const SIZE = { width: 768, height: 576 };
const FPS = 5;

type Found = TrackedObject[];

/** What the embedded detector and the tracker make of examples/street.mp4 at 5 frames a second, over and over. */
async function streetFrames(rounds: number): Promise<Found[]> {
  const { detectors, served } = await startDetectors(availableParallelism());
  const fit = served.detector.fit(SIZE);
  const detected: DetectedObject[][] = [];
  for await (const data of pictures(fit))
    detected.push(
      await served.detector.detect(
        { ...fit, data },
        { minScore: served.scene.lower_bound, labels: served.scene.labels },
      ),
    );
  await detectors.stop();
  const tracker = createTracker('a1');
  return Array.from({ length: rounds * detected.length }, (_, index) =>
    tracker.update((index * 1000) / FPS, detected[index % detected.length] ?? [], SIZE.width / SIZE.height),
  );
}

async function* pictures({ width, height }: { width: number; height: number }): AsyncGenerator<Buffer> {
  const filter = `fps=${FPS},scale=${width}:${height}`;
  const output = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1'];
  const child = spawn('ffmpeg', ['-v', 'error', '-i', join(root, 'examples/street.mp4'), '-vf', filter, ...output]);
  const ended = once(child, 'close');
  const frameBytes = width * height * 3;
  let held = Buffer.alloc(0);
  for await (const chunk of child.stdout) {
    held = Buffer.concat([held, chunk as Buffer]);
    for (; held.length >= frameBytes; held = held.subarray(frameBytes)) yield held.subarray(0, frameBytes);
  }
  await ended;
}

/**
 * Frames of a live stream with this many objects each. What a moment of the street lacks comes from other moments of
 * it, each with tracks of its own: objects, boxes and their noise stay those that were detected.
 */
export async function liveFrames(length: number): Promise<(taskId: string, objects: number) => FrameData[]> {
  const street = await streetFrames(Math.ceil((length + 300) / 60));
  return (taskId, objects) => {
    let timeMs = 1_780_000_000_000;
    return Array.from({ length }, (_, seq): FrameData => {
      const chosen: Found = [];
      for (let moment = 0; chosen.length < objects && moment < 40; moment += 1) {
        const more = street[(seq + moment * 7) % street.length] ?? [];
        chosen.push(...more.map((object) => ({ ...object, track_id: `${object.track_id}${moment || ''}` })));
      }
      timeMs += 190 + ((seq * 7_919) % 21);
      return {
        job_id: taskId,
        attempt: 1,
        seq,
        frame_time_ms: timeMs,
        is_live: false,
        image: SIZE,
        objects: chosen.slice(0, objects).sort((a, b) => b.score - a.score),
      };
    });
  };
}
