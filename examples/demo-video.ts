import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import type { ResultFrame, VisionClient } from '@vision/client';
import { annotate, frameAt } from './annotate.ts';
import { receiveAlarm } from './demo-alarm.ts';
import { printSource, printTimeline, printTracks, saveLiveSnapshot, saveTrackSnapshot } from './demo-watch.ts';
import { startLiveSource } from './live-source.ts';

const PICTURES = 4;
const LIVE_FRAMES = 15;
const FRAMES_A_LINE = 25;
/** Lower than the default of 0.80, so that the small people in the back are shown too. */
const MIN_SCORE = 0.5;

/** Uploads a video, follows its frames, prints its tracks and its timeline, and writes a few annotated frames. */
export async function followVideo(client: VisionClient, video: string, out: string): Promise<void> {
  const file = await openAsBlob(video, { type: 'video/mp4' });
  const task = await client.uploadVideo(file, { scene_code: 'person_vehicle', fileName: 'street.mp4' });
  console.log(`\nVideo file, task ${task.task_id} (${task.status})`);
  const frames: ResultFrame[] = [];
  for await (const frame of client.frames(task.task_id, { min_score: MIN_SCORE })) {
    frames.push(frame);
    if (frames.length % FRAMES_A_LINE === 0)
      console.log(`  ${frames.length} frames, up to ${(frame.frame_time_ms / 1000).toFixed(1)} s`);
  }
  const step = Math.max(1, Math.floor(frames.length / PICTURES));
  for (const frame of frames.filter((_frame, index) => index % step === 0).slice(0, PICTURES)) {
    await annotate(
      await frameAt(video, frame.frame_time_ms),
      frame.objects,
      join(out, `street-mp4-${frame.frame_time_ms}.png`),
    );
  }
  console.log(`  the task ended as ${(await client.waitFor(task)).status}`);
  await printTracks(client, task.task_id, MIN_SCORE);
  await saveTrackSnapshot(client, task.task_id, join(out, 'track.jpg'));
  await printTimeline(client, task.task_id, MIN_SCORE);
}

/** Serves the same file as a live stream, watches it until some frames and an alarm have come, and stops the task. */
export async function watchLiveStream(client: VisionClient, video: string, out: string): Promise<void> {
  const source = await startLiveSource({ video });
  const alarm = await receiveAlarm(client);
  try {
    const stream = { stream_url: source.url, scene_code: 'person_vehicle' };
    const task = await client.watchStream(stream, { client_ref: alarm.clientRef });
    console.log(`\nLive stream ${source.url}, task ${task.task_id} (${task.status})`);
    let seen = 0;
    for await (const { frame_time_ms: time, objects } of client.frames(task.task_id, { min_score: MIN_SCORE })) {
      seen += 1;
      console.log(
        `  ${new Date(time).toISOString()}  ${objects.map((one) => `${one.label}#${one.track_id}`).join(' ')}`,
      );
      if (seen >= LIVE_FRAMES) break;
    }
    await alarm.print();
    await printSource(client, task.task_id);
    await saveLiveSnapshot(client, task.task_id, join(out, 'live.jpg'));
    const stopped = await client.stop(task.task_id);
    console.log(`  ${seen} frames, then stopped: ${stopped.status}`);
  } finally {
    await alarm.close();
    source.close();
  }
}
