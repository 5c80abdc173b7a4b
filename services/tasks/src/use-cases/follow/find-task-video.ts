import { fail } from '@vision/contracts/errors';
import type { StoredVideo } from '../../clients/video-reader.ts';
import type { Deps } from '../deps.ts';
import { getTask } from './get-task.ts';

/**
 * The stored video of an upload task of this subject.
 * @throws AppError not_found; OP-TASK-REQUEST-INVALID `not_an_upload` for streams and image calls.
 */
export async function findTaskVideo(
  deps: Pick<Deps, 'db' | 'images' | 'videos'>,
  { subject, taskId, signal }: { subject: string; taskId: string; signal: AbortSignal },
): Promise<StoredVideo> {
  const task = await getTask(deps, { subject, taskId });
  if (task.kind !== 'upload') throw notAnUpload();
  const video = task.objectKey === null ? undefined : await deps.videos.find(task.objectKey, signal);
  if (!video) throw videoGone();
  return video;
}

export const notAnUpload = () =>
  fail.requestInvalid('not_an_upload', 'The task is not of an uploaded video, so no video is stored for it.');
export const videoGone = () => fail.notFound('The video of the task is no longer stored.', 'video_not_found');
