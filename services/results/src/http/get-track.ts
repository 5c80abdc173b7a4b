import { z } from 'zod';
import { taskPath } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import { notVideoTask, taskNotFound } from '../use-cases/read/find-task.ts';
import { getTrack, trackNotFound } from '../use-cases/read/get-track.ts';
import type { TrackDeps } from '../use-cases/read/list-tracks.ts';
import { exampleTrack, track, trackBody } from './track.ts';

export const getTrackRoute = (deps: Omit<TrackDeps, 'trackCursors'>) =>
  route(
    {
      operation: 'getTrack',
      method: 'get',
      path: '/v1/vision/tasks/{task_id}/tracks/{track_id}',
      summary: 'Returns one track of a video task',
      tag: 'Tracks',
      audience: 'public',
      // Any other id gets the response for an unknown track.
      params: taskPath.extend({ track_id: z.string().describe('`track_id` of an object of the task') }),
      responses: { 200: { description: 'The track', schema: track, example: exampleTrack } },
      refusalExamples: () => [trackNotFound(), notVideoTask(), taskNotFound()],
    },
    async ({ params, caller }) => {
      const { task_id: taskId, track_id: trackId } = params;
      return {
        status: 200,
        body: trackBody(taskId, await getTrack(deps, { subject: caller.subject, taskId, trackId })),
      };
    },
  );
