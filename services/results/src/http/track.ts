import { z } from 'zod';
import { boundingBox } from '@vision/contracts/detection';
import { trackEnds } from '../domain/fold/track-end.ts';
import type { Box, TrackFacts } from '../domain/fold/tracks.ts';
import { noSnapshotReasons } from '../domain/track-snapshot.ts';
import type { TrackSnapshot } from '../domain/track-snapshot.ts';
import { stateOf } from '../use-cases/read/list-tracks.ts';
import type { ShownTrack } from '../use-cases/read/list-tracks.ts';

const time = z.int().meta({ format: 'int64' });

const snapshot = z.object({
  state: z
    .enum(['available', 'pending', 'none'])
    .describe(
      '`pending`: an image can still be stored, as of the newest frame. `none`: there is no image, see `reason`',
    ),
  reason: z
    .enum(noSnapshotReasons)
    .optional()
    .describe(
      '`snapshots_off`: the task has no snapshots. `too_short`: fewer than 3 frames. `below_score`: every score is below ' +
        'the threshold of the task. `not_taken`: too many tracks at once, no frame was decoded in time, or the backend ' +
        'takes none. `expired`: the image is no longer retained. `not_supported`: an earlier release created the task',
    ),
  frame_id: z.string().optional().describe('Frame that the image is cut from'),
  frame_time_ms: time.optional().describe('`frame_time_ms` of that frame'),
  width: z.int().optional().describe('Width of the image in pixels, 640 at most'),
  height: z.int().optional().describe('Height of the image in pixels, 640 at most'),
  expires_at: z.iso.datetime().optional().describe('Time at which the image is deleted'),
});

export const track = z
  .object({
    track_id: z.string().describe('The `track_id` of the objects of this track'),
    label: z.string().describe('Label of the object with the best score'),
    state: z
      .enum(['active', 'ended'])
      .describe(
        '`ended`: no object for 3 s of frame time, a newer attempt began, or the task has ended. As of the newest frame: ' +
          'while a camera is unavailable, its last tracks stay `active`',
      ),
    ended_by: z
      .enum(trackEnds)
      .optional()
      .describe(
        '`left`: frames followed without the object. `gap`: no frame followed for 3 s. `attempt`: another worker ' +
          'continued the task with new tracks. `task_end`: the task ended. Absent while active',
      ),
    first_time_ms: time.describe('`frame_time_ms` of the first frame with the object'),
    last_time_ms: time.describe('`frame_time_ms` of the last frame with the object'),
    frames: z.int().describe('Frames with the object'),
    best: z
      .object({ frame_id: z.string(), frame_time_ms: time, score: z.number(), bbox: boundingBox })
      .describe('The object with the highest score; among equal scores the largest, then the first'),
    first_bbox: boundingBox.describe('Box in the first frame'),
    last_bbox: boundingBox.describe('Box in the last frame'),
    mean_score: z.number().describe('Mean score over all frames, 0 to 1, 4 decimals'),
    snapshot: snapshot.describe('Image of the object, at `/v1/vision/tasks/{task_id}/tracks/{track_id}/snapshot`'),
  })
  .meta({ id: 'Track', description: 'One object of a video task, from its first to its last frame' });

const box = { format: 'cxcywh_normalized' as const, cx: 0.42, cy: 0.55, width: 0.08, height: 0.31 };

export const exampleTrack: z.infer<typeof track> = {
  track_id: 'a1-7',
  label: 'person',
  state: 'ended',
  ended_by: 'left',
  first_time_ms: 1_773_565_200_000,
  last_time_ms: 1_773_565_212_400,
  frames: 63,
  best: {
    frame_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31',
    frame_time_ms: 1_773_565_206_200,
    score: 0.91,
    bbox: box,
  },
  first_bbox: box,
  last_bbox: box,
  mean_score: 0.8412,
  snapshot: {
    state: 'available',
    frame_id: '019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10-31',
    frame_time_ms: 1_773_565_206_200,
    width: 180,
    height: 402,
    expires_at: '2026-04-14T08:30:12.000Z',
  },
};

/** A track in the form of the API. */
export function trackBody(taskId: string, shown: ShownTrack): z.infer<typeof track> {
  const { trackId, label, frames, first, last, best, endedBy } = shown;
  return {
    track_id: trackId,
    label,
    state: stateOf(shown),
    ...(endedBy === undefined ? {} : { ended_by: endedBy }),
    first_time_ms: first.timeMs,
    last_time_ms: last.timeMs,
    frames,
    best: {
      frame_id: `${taskId}-${best.seq}`,
      frame_time_ms: best.timeMs,
      score: best.score / 1e6,
      bbox: boxBody(best),
    },
    first_bbox: boxBody(first),
    last_bbox: boxBody(last),
    mean_score: meanScore(shown),
    snapshot: snapshotBody(taskId, shown.snapshot),
  };
}

function snapshotBody(taskId: string, image: TrackSnapshot): z.infer<typeof snapshot> {
  if (image.state !== 'available') return image;
  const { state, seq, frameTimeMs, width, height, expiresAt } = image;
  return {
    state,
    frame_id: `${taskId}-${seq}`,
    frame_time_ms: frameTimeMs,
    width,
    height,
    expires_at: expiresAt.toISOString(),
  };
}

const boxBody = ({ cx, cy, width, height }: Box) => ({
  format: 'cxcywh_normalized' as const,
  cx,
  cy,
  width,
  height,
});

const meanScore = ({ scoreSum, frames }: TrackFacts) => Math.round(scoreSum / frames / 100) / 1e4;
