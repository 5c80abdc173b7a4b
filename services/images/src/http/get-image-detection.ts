import { taskPath } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import type { Deps } from '../use-cases/deps.ts';
import { imageCallNotFound } from '../use-cases/get-image-call.ts';
import { getImageDetection } from '../use-cases/get-image-detection.ts';
import { exampleStoredDetection, storedDetection, toStoredDetection } from './image-detection-view.ts';

export const getImageDetectionRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      operation: 'getImageDetection',
      method: 'get',
      path: '/v1/vision/image-detections/{task_id}',
      summary: 'Returns the detections of an earlier image call',
      description:
        'Returns the detections until `result_expires_at`. Reading is not charged. Frames of a video task are at ' +
        '`/v1/vision/tasks/{task_id}/results`.',
      tag: 'Images',
      audience: 'public',
      params: taskPath,
      responses: { 200: { description: 'The image call', schema: storedDetection, example: exampleStoredDetection } },
      refusalExamples: () => [imageCallNotFound()],
    },
    async ({ params, caller }) => {
      const found = await getImageDetection(deps, { subject: caller.subject, taskId: params.task_id });
      return { status: 200, body: toStoredDetection(found) };
    },
  );
