import { z } from 'zod';
import { boundingBox } from '@vision/contracts/detection';
import { trackEnds } from '../domain/fold/track-end.ts';
import type { Box, TrackFacts } from '../domain/fold/tracks.ts';
import { snapshotOf } from '../domain/track-snapshot.ts';
import { stateOf } from '../use-cases/list-tracks.ts';
import type { ShownTrack } from '../use-cases/list-tracks.ts';

const time = z.int().meta({ format: 'int64' });

export const track = z
  .object({
    track_id: z.string().describe('The `track_id` of the objects of this track'),
    label: z.string().describe('Label of the object with the best score'),
    state: z
      .enum(['active', 'ended'])
      .describe('`ended`: no object for 3 s of frame time, a newer attempt began, or the task has ended'),
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
    snapshot: z
      .object({ state: z.enum(['none']), reason: z.enum(['not_supported']).optional() })
      .describe('Image of the object'),
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
  snapshot: { state: 'none', reason: 'not_supported' },
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
    snapshot: snapshotOf(),
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
