import type { VisionClient } from '@vision/client';
import type { Trouble } from '../lib/trouble.ts';
import { dataOf } from './data.ts';

/** Reasons of tasks that have no images at all. */
export const WITHOUT_IMAGES: readonly string[] = ['snapshots_off', 'not_supported'];

/** Whether an image that was refused can still come: `snapshot_none` is said of tracks and of tasks that have ended. */
export const canStillCome = (refusal: Trouble | undefined): boolean =>
  refusal === undefined || ![...WITHOUT_IMAGES, 'snapshot_none'].includes(refusal.reason);

const MOST_BYTES = 64 * 1024 * 1024;
/** Images of tracks by the frame that they are cut from, the one that was shown last at the end. */
const held = new Map<string, Blob>();

export interface TrackOf {
  taskId: string;
  trackId: string;
  /** The frame that the image is cut from, where that is known: a better one takes its place. */
  frameId?: string | undefined;
}

/** The image of a track; images that were shown lately are not asked for again. @throws VisionError without one */
export async function snapshotOf(
  client: VisionClient,
  { taskId, trackId, frameId = '' }: TrackOf,
  signal: AbortSignal,
): Promise<Blob> {
  const key = `${taskId} ${trackId} ${frameId}`;
  const known = held.get(key);
  if (known) {
    held.delete(key);
    held.set(key, known);
    return known;
  }
  const options = { params: { path: { task_id: taskId, track_id: trackId } }, signal, parseAs: 'blob' } as const;
  const path = '/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot';
  const image = dataOf(await client.api.GET(path, options));
  held.set(key, image);
  forgetOldest();
  return image;
}

/** Nothing of one key stays for the next. */
export const forgetSnapshots = () => held.clear();

function forgetOldest(): void {
  let bytes = [...held.values()].reduce((sum, { size }) => sum + size, 0);
  for (const [key, { size }] of held) {
    if (bytes <= MOST_BYTES) return;
    held.delete(key);
    bytes -= size;
  }
}
