import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Track, VisionClient } from '@vision/client';

const seconds = (ms: number) => (ms / 1000).toFixed(1);

/** Prints who was there, each from its first to its last frame. */
export async function printTracks(client: VisionClient, taskId: string, minScore: number): Promise<void> {
  for await (const track of client.tracks(taskId, { order: 'oldest', min_score: minScore })) {
    const { track_id: id, label, first_time_ms: from, last_time_ms: to, frames, best } = track;
    console.log(
      `  track ${id.padEnd(8)} ${label.padEnd(10)} ${seconds(from)}–${seconds(to)} s  ${frames} frames  best ${best.score.toFixed(2)}`,
    );
  }
}

/** Prints for which time there are frames, and how many objects were there at most in each second. */
export async function printTimeline(client: VisionClient, taskId: string, minScore: number): Promise<void> {
  const params = { path: { task_id: taskId }, query: { bucket_ms: '1000', min_score: minScore } } as const;
  const { data } = await client.api.GET('/v1/vision/tasks/{task_id}/timeline', { params });
  if (!data) return;
  const { coverage, items, gaps } = data;
  const most = items.map(({ labels }) => Math.max(0, ...labels.map(({ objects_max: count }) => count)));
  console.log(`  objects at once, second by second: ${most.join(' ')}`);
  console.log(
    `  frames for ${seconds(coverage.covered_ms)} of ${seconds(coverage.to_ms - coverage.from_ms)} s, gaps: ${gaps.length}`,
  );
}

/** Prints what the camera of a task does. */
export async function printSource(client: VisionClient, taskId: string): Promise<void> {
  const params = { path: { task_id: taskId } };
  const { data } = await client.api.GET('/v1/vision/tasks/{task_id}/source', { params });
  if (!data) return;
  const { state, since_ms: since, codec, image, measured_fps: fps } = data;
  const size = image ? `${image.width} × ${image.height}` : 'size not known yet';
  const rate = fps === undefined ? '' : `, ${fps} frames a second`;
  console.log(
    `  the camera is ${state} since ${new Date(since).toISOString()}: ${codec ?? 'codec not known yet'}, ${size}${rate}`,
  );
}

const PATIENCE_MS = 30_000;

/** Writes the image of the track that was seen best; says why when there is none. */
export async function saveTrackSnapshot(client: VisionClient, taskId: string, path: string): Promise<void> {
  const endsAt = Date.now() + PATIENCE_MS;
  for (;;) {
    const tracks: Track[] = [];
    for await (const track of client.tracks(taskId, { order: 'oldest' })) tracks.push(track);
    const best = tracks.toSorted((a, b) => b.best.score - a.best.score);
    const shown = best.find(({ snapshot }) => snapshot.state === 'available');
    const isAwaited = best.some(({ snapshot }) => snapshot.state === 'pending') && Date.now() < endsAt;
    if (isAwaited) {
      await delay(500);
      continue;
    }
    if (!shown) {
      console.log(`  no image of a track: ${best[0]?.snapshot.reason ?? 'there is no track'}`);
      return;
    }
    const params = { path: { task_id: taskId, track_id: shown.track_id } };
    const url = '/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot';
    const { data, error } = await client.api.GET(url, { params, parseAs: 'blob' });
    if (data) await writeFile(path, data.stream());
    console.log(error ? `  no image of a track: ${error.detail}` : `  ${shown.track_id} at its best: ${path}`);
    return;
  }
}

/** Writes the newest frame of a live task; says why when there is none. */
export async function saveLiveSnapshot(client: VisionClient, taskId: string, path: string): Promise<void> {
  const params = { path: { task_id: taskId } };
  const { data, error } = await client.api.GET('/v1/vision/tasks/{task_id}/live-snapshot', { params, parseAs: 'blob' });
  if (data) await writeFile(path, data.stream());
  console.log(error ? `  no newest frame: ${error.detail}` : `  newest frame: ${path}`);
}
